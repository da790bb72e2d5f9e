"""AddRaftVoter and RemoveRaftVoter, and what they refuse (KIP-853)."""

from __future__ import annotations

from random import randrange

from kwire.conform.check import Check, CheckSection, gets, scenario
from kwire.conform.checks.quorum.requests import add_voter, remove_voter
from kwire.conform.expectation import answers, expect_error
from kwire.conform.quorum import (
    NO_DIRECTORY,
    NOBODY,
    OTHER_CLUSTER,
    DescribedQuorum,
    describe_quorum,
    leader_exchange,
)
from kwire.conform.server import Server
from kwire.conform.stub_voter import StubVoter
from kwire.conform.vocabulary import Need, ServerRole, Skipped, guide, kafka, kip
from kwire.error_codes import ErrorCode
from kwire.messages.a80_add_raft_voter import AddRaftVoterRequest, Listener
from kwire.messages.a81_remove_raft_voter import RemoveRaftVoterRequest

SECTION = CheckSection("quorum/kip-853/voters", "Voters are added and removed")

_ADD, _REMOVE = kip(853, "AddVoter, Handling"), kip(853, "RemoveVoter, Handling")
_ORDER = kafka("KafkaRaftClient.handleAddVoterRequest")


def _at(quorum: DescribedQuorum, voter: StubVoter) -> AddRaftVoterRequest:
    # Another id each time: to one that it could not reach a leader sends nothing for a while.
    request = add_voter(quorum, randrange(NOBODY, 1 << 31))
    listeners = [Listener(name=request.listeners[0].name, host=voter.host, port=voter.port)]
    return request.replace(listeners=listeners)


def _without_listener(quorum: DescribedQuorum, **changes: object) -> AddRaftVoterRequest:
    listener = Listener(name="KWIRE_CONFORM", host="127.0.0.1", port=1)
    return add_voter(quorum).replace(listeners=[listener], **changes)


SECTION[1] = leader_exchange(
    "AddRaftVoter for another cluster gets",
    guide("Error Codes"),
    send=lambda quorum: add_voter(quorum).replace(cluster_id=OTHER_CLUSTER),
    expect=answers(ErrorCode.INCONSISTENT_CLUSTER_ID),
)
SECTION[2] = leader_exchange(
    "AddRaftVoter: the cluster id is checked before the listeners.",
    _ORDER,
    send=lambda quorum: _without_listener(quorum, cluster_id=OTHER_CLUSTER),
    expect=answers(ErrorCode.INCONSISTENT_CLUSTER_ID),
)
SECTION[3] = leader_exchange(
    "AddRaftVoter for an id that votes already gets",
    _ADD,
    send=lambda quorum: add_voter(quorum, quorum.leader_id),
    expect=answers(ErrorCode.DUPLICATE_VOTER),
    kraft_version=1,
    alone=True,
)
SECTION[4] = leader_exchange(
    "AddRaftVoter without the quorum's own listener gets",
    _ORDER,
    send=_without_listener,
    expect=answers(ErrorCode.INVALID_REQUEST),
)
SECTION[5] = leader_exchange(
    "AddRaftVoter: the listeners are checked before the id.",
    _ORDER,
    send=lambda quorum: _without_listener(quorum, voter_id=quorum.leader_id),
    expect=answers(ErrorCode.INVALID_REQUEST),
)
SECTION[6] = leader_exchange(
    "AddRaftVoter without a directory id gets",
    _ORDER,
    send=lambda quorum: add_voter(quorum).replace(voter_directory_id=NO_DIRECTORY),
    expect=answers(ErrorCode.INVALID_REQUEST),
)
SECTION[7] = leader_exchange(
    "AddRaftVoter gets UNSUPPORTED_VERSION at kraft.version 0.",
    _ADD,
    send=add_voter,
    expect=answers(ErrorCode.UNSUPPORTED_VERSION),
    kraft_version=0,
)
SECTION[8] = leader_exchange(
    "AddRaftVoter for a voter that cannot be reached ends with",
    _ADD,
    send=lambda quorum: add_voter(quorum, randrange(NOBODY, 1 << 31)),
    expect=answers(ErrorCode.REQUEST_TIMED_OUT),
    kraft_version=1,
    alone=True,
)


def _refuses_voter(sentence: str, code: int, supports: tuple[int, int]) -> Check:
    @scenario(gets(sentence, code), _ADD, role=ServerRole.CONTROLLER, alone=True)
    async def run(server: Server) -> None:
        quorum = await describe_quorum(server)
        await quorum.demand_kraft_version(1)
        quorum.connection.demand(AddRaftVoterRequest)
        async with StubVoter(quorum.connection.own_host, supports) as voter:
            expect_error(await server.ask(_at(quorum, voter)), code)

    return run


SECTION[9] = _refuses_voter(
    "AddRaftVoter for a voter that has not the finalized kraft.version is refused.",
    ErrorCode.INVALID_REQUEST,
    (2, 3),
)
SECTION[10] = _refuses_voter(
    "AddRaftVoter for a voter that has not caught up ends with", ErrorCode.REQUEST_TIMED_OUT, (0, 1)
)


async def _is_set(voter: StubVoter) -> bool:
    return voter.asked.is_set()


@SECTION.check(11, _ADD, role=ServerRole.CONTROLLER, alone=True)
async def _(server: Server) -> None:
    """A second AddRaftVoter gets REQUEST_TIMED_OUT while one is under way."""
    quorum = await describe_quorum(server)
    await quorum.demand_kraft_version(1)
    quorum.connection.demand(AddRaftVoterRequest)
    async with StubVoter(quorum.connection.own_host, None) as silent:
        first = await server.new_connection(quorum.address)
        await first.send(first.frame(_at(quorum, silent)))
        await server.wait_for("a request to the new voter", lambda: _is_set(silent))
        expect_error(await server.ask(add_voter(quorum, NOBODY + 1)), ErrorCode.REQUEST_TIMED_OUT)
        # The first ends too, before the next check begins.
        await first.receive(patience=10.0)


SECTION[13] = leader_exchange(
    "RemoveRaftVoter for an id that does not vote gets",
    _REMOVE,
    send=remove_voter,
    expect=answers(ErrorCode.VOTER_NOT_FOUND),
    kraft_version=1,
)
SECTION[14] = leader_exchange(
    "RemoveRaftVoter for a voter's id with another directory gets",
    _REMOVE,
    send=lambda quorum: remove_voter(quorum, quorum.leader_id),
    expect=answers(ErrorCode.VOTER_NOT_FOUND),
    kraft_version=1,
)
SECTION[15] = leader_exchange(
    "RemoveRaftVoter gets UNSUPPORTED_VERSION at kraft.version 0.",
    _REMOVE,
    send=remove_voter,
    expect=answers(ErrorCode.UNSUPPORTED_VERSION),
    kraft_version=0,
)
SECTION[16] = leader_exchange(
    "RemoveRaftVoter without a directory id gets",
    kafka("KafkaRaftClient.handleRemoveVoterRequest"),
    send=lambda quorum: remove_voter(quorum).replace(voter_directory_id=NO_DIRECTORY),
    expect=answers(ErrorCode.INVALID_REQUEST),
)
SECTION[17] = leader_exchange(
    "AddRaftVoter for another cluster is refused at a broker too.",
    guide("Error Codes"),
    send=lambda quorum: add_voter(quorum).replace(cluster_id=OTHER_CLUSTER),
    expect=answers(ErrorCode.INCONSISTENT_CLUSTER_ID),
    role=ServerRole.BROKER,
)


def _remove_last(quorum: DescribedQuorum) -> RemoveRaftVoterRequest:
    """Return the request that a quorum of one refuses. Raises Skipped for a larger one."""
    if len(quorum.voters) > 1:
        raise Skipped("the quorum has voters besides the leader, which would be removed")
    directory = quorum.leader_directory
    return remove_voter(quorum, quorum.leader_id).replace(voter_directory_id=directory)


SECTION[18] = leader_exchange(
    "RemoveRaftVoter for the last voter gets",
    _REMOVE,
    send=_remove_last,
    expect=answers(ErrorCode.INVALID_REQUEST),
    kraft_version=1,
    needs=Need.THROW_AWAY,
)
