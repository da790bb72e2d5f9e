"""Vote with voter keys, in epochs in which nobody can win (KIP-595, KIP-853, KIP-996)."""

from __future__ import annotations

from typing import Any

from kwire.conform.check import CheckSection, family, in_each_version
from kwire.conform.checks.quorum.requests import vote
from kwire.conform.expectation import answers, expect, expect_equal, expect_error
from kwire.conform.quorum import (
    NOBODY,
    OTHER_CLUSTER,
    OTHER_DIRECTORY,
    describe_quorum,
    leader_exchange,
)
from kwire.conform.server import Server
from kwire.conform.vocabulary import ServerRole, guide, kafka, kip
from kwire.error_codes import ErrorCode
from kwire.messages.a52_vote import VoteRequest, VoteResponse

SECTION = CheckSection(
    "quorum/kip-853/vote", "Votes with voter keys, in epochs in which nobody can win"
)

_VOTE = kip(853, "Vote, Handling")
_HANDLER = kafka("KafkaRaftClient.handleVoteRequest")


def _granted(response: VoteResponse) -> str:
    return "the vote is granted" if response.topics[0].partitions[0].vote_granted else ""


@in_each_version(VoteRequest)
async def _versions(server: Server, version: int) -> None:
    quorum = await describe_quorum(server)
    answer = await server.ask(vote(quorum), version)
    # Before KIP-853 nobody but a voter could stand: INCONSISTENT_VOTER_SET.
    expect_error(
        answer, ErrorCode.NONE, *([ErrorCode.INCONSISTENT_VOTER_SET] if version == 0 else [])
    )
    expect(not _granted(answer), "no vote", "a vote")


SECTION[1] = family(
    "A voter with a leader in the epoch refuses its vote without an error, in any version.",
    kip(595, "Vote"),
    _versions,
    role=ServerRole.CONTROLLER,
)
SECTION[2] = leader_exchange(
    "Vote for another cluster gets",
    guide("Error Codes"),
    send=lambda quorum: vote(quorum).replace(cluster_id=OTHER_CLUSTER),
    expect=answers(ErrorCode.INCONSISTENT_CLUSTER_ID),
)
SECTION[3] = leader_exchange(
    "Vote with the cluster's own id is answered.",
    _VOTE,
    send=lambda quorum: vote(quorum).replace(cluster_id=quorum.cluster_id),
    expect=answers(ErrorCode.NONE, text="without a vote", lacks=_granted),
)
SECTION[4] = leader_exchange(
    "Vote of an earlier epoch gets",
    kip(595, "Vote"),
    send=lambda quorum: vote(quorum, replica_epoch=quorum.epoch - 1, last_offset_epoch=0),
    expect=answers(ErrorCode.FENCED_LEADER_EPOCH) | answers(ErrorCode.INVALID_REQUEST),
)
SECTION[5] = leader_exchange(
    "Vote that names another voter's id gets",
    guide("Error Codes"),
    send=lambda quorum: vote(quorum, voter_id=NOBODY),
    # The KIP says INVALID_REQUEST, every Kafka INVALID_VOTER_KEY.
    expect=answers(ErrorCode.INVALID_VOTER_KEY) | answers(ErrorCode.INVALID_REQUEST),
    version=1,
)
SECTION[6] = leader_exchange(
    "Vote that names another directory of the voter gets",
    guide("Error Codes"),
    send=lambda quorum: vote(quorum, voter_id=quorum.leader_id, voter_directory_id=OTHER_DIRECTORY),
    expect=answers(ErrorCode.INVALID_VOTER_KEY) | answers(ErrorCode.INVALID_REQUEST),
    version=1,
)
SECTION[7] = leader_exchange(
    "Vote that names the voter's own id and directory is answered.",
    _VOTE,
    send=lambda quorum: vote(
        quorum, voter_id=quorum.leader_id, voter_directory_id=quorum.leader_directory
    ),
    expect=answers(ErrorCode.NONE, text="without a vote", lacks=_granted),
    version=1,
)
SECTION[8] = leader_exchange(
    "Vote in another topic than the metadata log gets",
    _HANDLER,
    send=lambda quorum: vote(quorum, topic="kwire-conform-topic"),
    expect=answers(ErrorCode.INVALID_REQUEST),
)
SECTION[9] = leader_exchange(
    "Vote in another partition of the metadata log gets",
    _HANDLER,
    send=lambda quorum: vote(quorum, partition_index=1),
    expect=answers(ErrorCode.INVALID_REQUEST),
)
SECTION[10] = leader_exchange(
    "Vote without a topic gets",
    _HANDLER,
    send=lambda quorum: vote(quorum).replace(topics=[]),
    expect=answers(ErrorCode.INVALID_REQUEST),
)
SECTION[11] = leader_exchange(
    "Vote of a candidate whose log has an offset below 0 gets",
    _HANDLER,
    send=lambda quorum: vote(quorum, last_offset=-1),
    expect=answers(ErrorCode.INVALID_REQUEST),
)
SECTION[12] = leader_exchange(
    "Vote of a candidate whose log has records of the epoch it stands in is refused.",
    _HANDLER,
    send=lambda quorum: vote(quorum, last_offset_epoch=quorum.epoch),
    expect=answers(ErrorCode.INVALID_REQUEST),
    version=1,
)
SECTION[13] = leader_exchange(
    "Vote of a candidate with an id below 0 gets",
    _HANDLER,
    send=lambda quorum: vote(quorum, replica_id=-1),
    expect=answers(ErrorCode.INVALID_REQUEST),
)
SECTION[14] = leader_exchange(
    "A leader refuses a PreVote in its own epoch.",
    kip(996, "Proposed Changes"),
    send=lambda quorum: vote(quorum, pre_vote=True),
    expect=answers(ErrorCode.NONE, text="without a vote", lacks=_granted),
    version=2,
)


@SECTION.check(16, kip(996, "Proposed Changes"), role=ServerRole.CONTROLLER)
async def _(server: Server) -> None:
    """A Vote in the epoch of a leader, with or without PreVote, changes neither epoch nor
    leader."""
    quorum = await describe_quorum(server)
    longest: dict[str, Any] = {"last_offset": 1 << 40, "last_offset_epoch": quorum.epoch - 1}
    await server.ask(vote(quorum, **longest))
    if quorum.connection.version_for(VoteRequest()) >= 2:
        answer = await server.ask(vote(quorum, pre_vote=True, **longest))
        expect(not _granted(answer), "no vote", "a vote")
    after = await describe_quorum(server)
    expect_equal("leader", (after.leader_id, after.epoch), (quorum.leader_id, quorum.epoch))
