"""Whatever a peer sends: an answer or nothing, never an exception but that of lost data."""

from random import Random
from typing import Any
from uuid import UUID

import pytest

from kwire.codec.declaration import Group, Request, Response
from kwire.controller.raft import CommittedDataLost, RequestFailed, Send
from kwire.error_codes import ErrorCode
from kwire.messages.a01_fetch import EpochEndOffset, FetchResponse, SnapshotId
from kwire.messages.a18_api_versions import ApiVersionsResponse, SupportedFeatureKey
from kwire.messages.a52_vote import VoteResponse
from kwire.messages.a53_begin_quorum_epoch import BeginQuorumEpochResponse
from kwire.messages.a53_begin_quorum_epoch import ResponsePartitionData as BegunPartition
from kwire.messages.a53_begin_quorum_epoch import ResponseTopicData as BegunTopic
from kwire.messages.a54_end_quorum_epoch import EndQuorumEpochResponse
from kwire.messages.a54_end_quorum_epoch import ResponsePartitionData as EndedPartition
from kwire.messages.a54_end_quorum_epoch import ResponseTopicData as EndedTopic
from kwire.messages.a59_fetch_snapshot import (
    FetchSnapshotResponse,
    ResponsePartitionSnapshot,
    ResponseTopicSnapshot,
)
from kwire.messages.a59_fetch_snapshot import LeaderIdAndEpoch as PieceLeader
from kwire.messages.a59_fetch_snapshot import SnapshotId as PieceId
from kwire.messages.a80_add_raft_voter import AddRaftVoterResponse
from kwire.messages.a81_remove_raft_voter import RemoveRaftVoterResponse
from kwire.messages.a82_update_raft_voter import CurrentLeader, UpdateRaftVoterResponse
from kwire.messages.metadata_topic import METADATA_TOPIC
from tests.support.controller.raft.quorum_requests import REQUESTS
from tests.support.controller.raft.single_replica import (
    batches,
    candidate,
    fetch_request,
    fetch_response,
    follower,
    leader,
    observer,
    prospective,
    resigned,
    unattached,
    vote_response,
)
from tests.support.seed import SEED

STATES = [unattached, prospective, candidate, follower, leader, resigned, observer]
NUMBERS = [-(1 << 31), -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, 100, (1 << 31) - 1]
ERRORS = [0, 6, 7, 8, 35, 42, 74, 75, 98, 99, 104, 125, -1, 999]

RESPONSES: list[Response] = [
    fetch_response(5, records=batches(0, 5, 5), high_watermark=2, names_endpoint=True),
    fetch_response(5, diverging_epoch=EpochEndOffset(epoch=1, end_offset=0)),
    fetch_response(5, snapshot_id=SnapshotId(end_offset=4, epoch=2)),
    vote_response(5, granted=True),
    BeginQuorumEpochResponse(
        topics=[BegunTopic(topic_name=METADATA_TOPIC, partitions=[BegunPartition(leader_epoch=5)])]
    ),
    EndQuorumEpochResponse(
        topics=[EndedTopic(topic_name=METADATA_TOPIC, partitions=[EndedPartition(leader_epoch=5)])]
    ),
    FetchSnapshotResponse(
        topics=[
            ResponseTopicSnapshot(
                name=METADATA_TOPIC,
                partitions=[
                    ResponsePartitionSnapshot(
                        snapshot_id=PieceId(end_offset=4, epoch=2),
                        current_leader=PieceLeader(leader_id=2, leader_epoch=5),
                        size=2,
                        unaligned_records=b"x",
                    )
                ],
            )
        ]
    ),
    ApiVersionsResponse(supported_features=[SupportedFeatureKey(name="kraft.version")]),
    AddRaftVoterResponse(),
    RemoveRaftVoterResponse(),
    UpdateRaftVoterResponse(current_leader=CurrentLeader(leader_id=2, leader_epoch=5)),
]


def mutated(value: Any, random: Random, name: str = "") -> Any:
    """The same, here and there something else of the same type."""
    if isinstance(value, Group):
        fields = {n: mutated(getattr(value, n), random, n) for n in type(value).fields}
        return value.replace(**fields)
    if isinstance(value, list):
        grown = [mutated(item, random) for item in value]
        return random.choice([grown, grown, grown, grown * 2, []])
    if random.random() < 0.7:
        return value
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return random.choice(ERRORS if "error" in name else NUMBERS)
    if isinstance(value, str):
        return random.choice(["", "CONTROLLER", METADATA_TOPIC, "é" * 40])
    if isinstance(value, bytes):
        return random.choice([b"", random.randbytes(70), value[:-1], value + value])
    return UUID(int=random.choice([0, 1, 2])) if isinstance(value, UUID) else value


@pytest.mark.parametrize("state", STATES, ids=lambda state: state.__name__)
def test_no_request_brings_a_replica_down(state: Any) -> None:
    for seed in range(SEED, SEED + 150):
        random, solo = Random(seed), state()
        for _ in range(6):
            request = mutated(random.choice(REQUESTS), random)
            assert isinstance(request, Request)
            solo.ask(request, random.choice(list(type(request).versions)))
            solo.after(random.choice([0, 1, 300, 2_000]))


@pytest.mark.parametrize("state", STATES, ids=lambda state: state.__name__)
def test_no_response_brings_a_replica_down(state: Any) -> None:
    for seed in range(SEED, SEED + 150):
        random, solo = Random(seed), state()
        for _ in range(8):
            sends = [effect for effect in solo.effects if isinstance(effect, Send)]
            response = mutated(random.choice(RESPONSES), random)
            try:
                if sends:
                    solo.respond(sends[-1], response)
                solo.after(random.choice([0, 1, 300, 2_000]))
            except CommittedDataLost:
                break


EMPTY: list[Response] = [
    FetchResponse(),
    VoteResponse(),
    BeginQuorumEpochResponse(),
    EndQuorumEpochResponse(),
    FetchSnapshotResponse(),
]


@pytest.mark.parametrize("response", EMPTY, ids=lambda response: type(response).__name__)
@pytest.mark.parametrize("error", [0, ErrorCode.INCONSISTENT_CLUSTER_ID])
def test_after_an_answer_about_nothing_there_is_a_pause(response: Any, error: int) -> None:
    solo = follower()
    send = [effect for effect in solo.effects if isinstance(effect, Send)][-1]
    solo.forget()
    solo.respond(send, response.replace(error_code=error))
    asked = [e.destination.id for e in solo.effects if isinstance(e, Send)]
    assert send.destination.id not in asked
    assert (solo.raft.role, solo.raft.epoch) == ("follower", 5)


def test_an_error_of_all_of_an_answer_outweighs_its_partitions() -> None:
    error = ErrorCode.INCONSISTENT_CLUSTER_ID
    solo = candidate()
    send = next(effect for effect in solo.effects if isinstance(effect, Send))
    answer = vote_response(5, granted=True)
    answer.error_code = error
    solo.respond(send, answer)
    assert solo.raft.role == "candidate"


def test_an_answer_from_an_epoch_that_is_over_changes_nothing() -> None:
    solo = follower()
    send = [effect for effect in solo.effects if isinstance(effect, Send)][-1]
    solo.respond(send, fetch_response(4, 3, records=batches(0, 4), high_watermark=1))
    assert (solo.raft.end_offset, solo.raft.leader_id, solo.raft.epoch) == (0, 2, 5)


def test_a_lost_connection_is_followed_by_a_pause() -> None:
    solo = follower()
    send = [effect for effect in solo.effects if isinstance(effect, Send)][-1]
    solo.forget()
    failed = RequestFailed(correlation=send.correlation, error=ErrorCode.BROKER_NOT_AVAILABLE)
    solo.step(failed)
    asked = [e.destination.id for e in solo.effects if isinstance(e, Send)]
    assert all(id < 0 for id in asked), "bootstrap servers may be asked at once"
    assert solo.raft.deadline == solo.now + solo.config.retry_backoff_ms


def test_a_leader_answers_who_is_not_even_a_replica() -> None:
    solo = leader()
    (answer,) = solo.ask(fetch_request(-1, 5, 0, 0, directory_id=UUID(int=0)))
    assert isinstance(answer, FetchResponse)
    assert answer.responses[0].partitions[0].records
    assert solo.raft.metrics.number_of_observers == 0
