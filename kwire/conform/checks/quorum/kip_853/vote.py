"""Vote with voter keys, in epochs in which nobody can win (KIP-595, KIP-853, KIP-996)."""

from __future__ import annotations

from typing import Any

from kwire.conform.check import CheckSection, family, in_each_version, scenario
from kwire.conform.checks.quorum.kip_853.requests import vote
from kwire.conform.expectation import answers, expect, expect_equal, expect_error
from kwire.conform.needs import ServerRole
from kwire.conform.quorum import (
    NOBODY,
    OTHER_CLUSTER,
    OTHER_DIRECTORY,
    describe_quorum,
    leader_exchange,
)
from kwire.conform.server import Server
from kwire.conform.source import kafka, kip, schema
from kwire.messages.a52_vote import VoteRequest, VoteResponse

_VOTE = kip(853, "Vote, Handling")
_HANDLER = kafka("KafkaRaftClient.handleVoteRequest")


def _refused(response: VoteResponse) -> bool:
    return not response.topics[0].partitions[0].vote_granted


@scenario(
    "A refused Vote names the leader of the epoch, and from v1 on its endpoint.",
    schema("VoteResponse", "NodeEndpoints"),
    role=ServerRole.CONTROLLER,
)
async def _names_leader(server: Server) -> None:
    quorum = await describe_quorum(server)
    answer = await server.ask(vote(quorum))
    partition = answer.topics[0].partitions[0]
    expect_equal("leader", partition.leader_id, quorum.leader_id)
    expect_equal("epoch", partition.leader_epoch, quorum.epoch)
    if quorum.connection.version_for(VoteRequest()) >= 1:
        endpoints = [endpoint.node_id for endpoint in answer.node_endpoints]
        expect_equal("nodes with endpoints", endpoints, [quorum.leader_id])


@scenario(
    "A Vote in the epoch of a leader, with or without PreVote, changes neither epoch nor leader.",
    kip(996, "Proposed Changes"),
    role=ServerRole.CONTROLLER,
)
async def _changes_nothing(server: Server) -> None:
    quorum = await describe_quorum(server)
    longest: dict[str, Any] = {"last_offset": 1 << 40, "last_offset_epoch": quorum.epoch - 1}
    await server.ask(vote(quorum, **longest))
    if quorum.connection.version_for(VoteRequest()) >= 2:
        expect(_refused(await server.ask(vote(quorum, pre_vote=True, **longest))), "no", "a vote")
    after = await describe_quorum(server)
    expect_equal("leader", (after.leader_id, after.epoch), (quorum.leader_id, quorum.epoch))


@in_each_version(VoteRequest)
async def _versions(server: Server, version: int) -> None:
    quorum = await describe_quorum(server)
    answer = await server.ask(vote(quorum), version)
    # Before KIP-853 nobody but a voter could stand: INCONSISTENT_VOTER_SET.
    expect_error(answer, 0, *([94] if version == 0 else []))
    expect(_refused(answer), "no vote", "a vote")


SECTION = CheckSection(
    "quorum/kip-853/vote",
    "Votes with voter keys, in epochs in which nobody can win",
    {
        1: family(
            "A voter with a leader in the epoch refuses its vote without an error, in any version.",
            kip(595, "Vote"),
            _versions,
            role=ServerRole.CONTROLLER,
        ),
        2: leader_exchange(
            "Vote for another cluster gets INCONSISTENT_CLUSTER_ID.",
            _VOTE,
            send=lambda quorum: vote(quorum).replace(cluster_id=OTHER_CLUSTER),
            expect=answers(104),
        ),
        3: leader_exchange(
            "Vote with the cluster's own id is answered.",
            _VOTE,
            send=lambda quorum: vote(quorum).replace(cluster_id=quorum.cluster_id),
            expect=answers(0, text="without a vote", where=_refused),
        ),
        4: leader_exchange(
            "Vote of an earlier epoch gets FENCED_LEADER_EPOCH.",
            kip(595, "Vote"),
            send=lambda quorum: vote(quorum, replica_epoch=quorum.epoch - 1, last_offset_epoch=0),
            expect=answers(74) | answers(42),
        ),
        5: leader_exchange(
            "Vote that names another voter's id gets INVALID_VOTER_KEY.",
            _VOTE,
            send=lambda quorum: vote(quorum, voter_id=NOBODY),
            # The KIP says INVALID_REQUEST, every Kafka INVALID_VOTER_KEY.
            expect=answers(125) | answers(42),
            version=1,
        ),
        6: leader_exchange(
            "Vote that names another directory of the voter gets INVALID_VOTER_KEY.",
            _VOTE,
            send=lambda quorum: vote(
                quorum, voter_id=quorum.leader_id, voter_directory_id=OTHER_DIRECTORY
            ),
            expect=answers(125) | answers(42),
            version=1,
        ),
        7: leader_exchange(
            "Vote that names the voter's own id and directory is answered.",
            _VOTE,
            send=lambda quorum: vote(
                quorum, voter_id=quorum.leader_id, voter_directory_id=quorum.leader_directory
            ),
            expect=answers(0, text="without a vote", where=_refused),
            version=1,
        ),
        8: leader_exchange(
            "Vote in another topic than the metadata log gets INVALID_REQUEST.",
            _HANDLER,
            send=lambda quorum: vote(quorum, topic="kwire-conform-topic"),
            expect=answers(42),
        ),
        9: leader_exchange(
            "Vote in another partition of the metadata log gets INVALID_REQUEST.",
            _HANDLER,
            send=lambda quorum: vote(quorum, partition_index=1),
            expect=answers(42),
        ),
        10: leader_exchange(
            "Vote without a topic gets INVALID_REQUEST.",
            _HANDLER,
            send=lambda quorum: vote(quorum).replace(topics=[]),
            expect=answers(42),
        ),
        11: leader_exchange(
            "Vote of a candidate whose log has an offset below 0 gets INVALID_REQUEST.",
            _HANDLER,
            send=lambda quorum: vote(quorum, last_offset=-1),
            expect=answers(42),
        ),
        12: leader_exchange(
            "Vote of a candidate whose log has records of the epoch it stands in is refused.",
            _HANDLER,
            send=lambda quorum: vote(quorum, last_offset_epoch=quorum.epoch),
            expect=answers(42),
            version=1,
        ),
        13: leader_exchange(
            "Vote of a candidate with an id below 0 gets INVALID_REQUEST.",
            _HANDLER,
            send=lambda quorum: vote(quorum, replica_id=-1),
            expect=answers(42),
        ),
        14: leader_exchange(
            "A leader refuses a PreVote in its own epoch.",
            kip(996, "Proposed Changes"),
            send=lambda quorum: vote(quorum, pre_vote=True),
            expect=answers(0, text="without a vote", where=_refused),
            version=2,
        ),
        15: _names_leader,
        16: _changes_nothing,
    },
)
