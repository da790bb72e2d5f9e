"""Voters that are really removed and added, and elections that really happen (KIP-853)."""

from __future__ import annotations

from kwire.conform.check import Check, CheckSection, Run, scenario
from kwire.conform.checks.quorum.requests import remove_voter, vote
from kwire.conform.expectation import expect, expect_equal, expect_error, first_error
from kwire.conform.quorum import DescribedQuorum, describe_quorum
from kwire.conform.server import Server
from kwire.conform.vocabulary import Need, SentenceSource, ServerRole, kip, schema
from kwire.error_codes import ErrorCode
from kwire.messages.a52_vote import VoteRequest
from kwire.messages.a55_describe_quorum import ReplicaState
from kwire.messages.a80_add_raft_voter import AddRaftVoterRequest, Listener

SECTION = CheckSection("quorum/kip-853/changes", "Voters come and go, and leaders change")

_PENDING = ErrorCode.REQUEST_TIMED_OUT
_ADD, _REMOVE, _VOTE = kip(853, "AddVoter"), kip(853, "RemoveVoter"), kip(853, "Vote")
_ACK = 1
"""The first version of AddRaftVoter that can answer before the commit."""


def _changing(sentence: str, source: SentenceSource, run: Run) -> Check:
    declare = scenario(
        sentence,
        source,
        role=ServerRole.CONTROLLER,
        needs=Need.THROW_AWAY | Need.TWO_VOTERS,
        alone=True,
    )
    return declare(run)


def _add(quorum: DescribedQuorum, voter: ReplicaState, *, ack: bool = True) -> AddRaftVoterRequest:
    listeners = [
        Listener(name=item.name, host=item.host, port=item.port)
        for item in quorum.listeners[voter.replica_id]
    ]
    return AddRaftVoterRequest(
        cluster_id=None,
        timeout_ms=5000,
        voter_id=voter.replica_id,
        voter_directory_id=voter.replica_directory_id,
        listeners=listeners,
        ack_when_committed=ack,
    )


async def _without_one(server: Server) -> tuple[DescribedQuorum, ReplicaState]:
    """Remove a voter that does not lead; it is added again afterwards, if the check did not."""
    quorum = await describe_quorum(server)
    await quorum.demand_kraft_version(1)
    voter = next(v for id, v in quorum.voters.items() if id != quorum.leader_id)
    server.remove_afterwards(
        f"the lack of voter {voter.replica_id}", lambda: _put_back(server, quorum, voter)
    )
    request = remove_voter(quorum, voter.replica_id)
    answer = await server.ask(request.replace(voter_directory_id=voter.replica_directory_id))
    expect_error(answer, ErrorCode.NONE)
    return quorum, voter


async def _put_back(server: Server, quorum: DescribedQuorum, voter: ReplicaState) -> None:
    async def is_back() -> bool:
        if voter.replica_id in (await describe_quorum(server)).voters:
            return True
        # It must have caught up; until then, and while a change is pending, it is refused.
        expect_error(
            await server.ask(_add(quorum, voter)),
            ErrorCode.NONE,
            _PENDING,
            ErrorCode.DUPLICATE_VOTER,
        )
        return False

    await server.wait_for(f"voter {voter.replica_id} back", is_back)


async def _removed(server: Server) -> None:
    _, voter = await _without_one(server)
    voters = (await describe_quorum(server)).voters
    expect(voter.replica_id not in voters, f"no voter {voter.replica_id}", sorted(voters))


async def _observes(server: Server) -> None:
    _, voter = await _without_one(server)

    async def is_observer() -> bool:
        observers = (await describe_quorum(server)).partition.observers
        return voter.replica_directory_id in {item.replica_directory_id for item in observers}

    await server.wait_for("the removed voter among the observers", is_observer)


async def _added(server: Server) -> None:
    quorum, voter = await _without_one(server)
    await _put_back(server, quorum, voter)
    after = (await describe_quorum(server)).voters[voter.replica_id]
    expect_equal("directory", after.replica_directory_id, voter.replica_directory_id)


async def _at_once(server: Server) -> None:
    quorum, voter = await _without_one(server)
    quorum.connection.demand(AddRaftVoterRequest, _ACK)

    async def answered() -> bool:
        return first_error(await server.ask(_add(quorum, voter, ack=False))) == ErrorCode.NONE

    await server.wait_for("an answer without an error", answered)

    async def votes() -> bool:
        return voter.replica_id in (await describe_quorum(server)).voters

    await server.wait_for("the voter", votes)


async def _short_log(server: Server) -> None:
    quorum = await describe_quorum(server)
    connection = await server.node(quorum.follower_id)
    answer = await connection.ask(vote(quorum, replica_epoch=quorum.epoch + 1))
    expect_error(answer, ErrorCode.NONE)
    partition = answer.topics[0].partitions[0]
    expect(not partition.vote_granted, "no vote", "a vote")
    expect(partition.leader_epoch > quorum.epoch, f"an epoch above {quorum.epoch}", partition)
    await _leads_later(server, quorum)


async def _stranger(server: Server) -> None:
    quorum = await describe_quorum(server)
    quorum.connection.demand(VoteRequest, 1)
    await quorum.demand_kraft_version(1)
    connection = await server.node(quorum.follower_id)
    longest = vote(
        quorum, replica_epoch=quorum.epoch + 1, last_offset_epoch=quorum.epoch, last_offset=1 << 40
    )
    answer = await connection.ask(longest)
    expect_error(answer, ErrorCode.NONE)
    expect(answer.topics[0].partitions[0].vote_granted, "a vote", "none")
    await _leads_later(server, quorum)


async def _leads_later(server: Server, before: DescribedQuorum) -> None:
    """Wait until the quorum has a leader in a later epoch, or the old one in the old epoch."""

    async def led() -> bool:
        after = await describe_quorum(server)
        return after.epoch >= before.epoch and after.partition.high_watermark >= 0

    await server.wait_for("a leader", led)


SECTION[1] = _changing("A voter that is removed votes no more.", _REMOVE, _removed)
SECTION[2] = _changing("A voter that is removed goes on as an observer.", _REMOVE, _observes)
SECTION[3] = _changing("An observer that has caught up can be added.", _ADD, _added)
SECTION[4] = _changing(
    "With ack_when_committed false AddRaftVoter is answered, and is committed.",
    schema("AddRaftVoterRequest", "AckWhenCommitted"),
    _at_once,
)
SECTION[5] = _changing(
    "A candidate with a shorter log gets no vote, and its later epoch is taken over.",
    kip(595, "Vote"),
    _short_log,
)
SECTION[6] = _changing("A candidate that is no voter can get a vote.", _VOTE, _stranger)
