"""AddRaftVoter and RemoveRaftVoter, and what they refuse (KIP-853)."""

from __future__ import annotations

from random import randrange

from kwire.conform.check import Check, CheckSection, scenario
from kwire.conform.checks.quorum.kip_853.requests import add_voter, remove_voter
from kwire.conform.expectation import answers, expect_error
from kwire.conform.needs import Need, ServerRole
from kwire.conform.quorum import (
    NO_DIRECTORY,
    NOBODY,
    OTHER_CLUSTER,
    DescribedQuorum,
    describe_quorum,
    leader_exchange,
)
from kwire.conform.server import Server
from kwire.conform.source import kafka, kip
from kwire.conform.stub_voter import StubVoter
from kwire.conform.verdict import Skipped
from kwire.messages.a80_add_raft_voter import AddRaftVoterRequest, Listener
from kwire.messages.a81_remove_raft_voter import RemoveRaftVoterRequest

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


@scenario(
    "A second AddRaftVoter gets REQUEST_TIMED_OUT while one is under way.",
    _ADD,
    role=ServerRole.CONTROLLER,
    alone=True,
)
async def _second_change(server: Server) -> None:
    quorum = await describe_quorum(server)
    await quorum.demand_kraft_version(1)
    quorum.connection.demand(AddRaftVoterRequest)
    async with StubVoter(quorum.connection.own_host, None) as silent:
        first = await server.new_connection(quorum.address)
        await first.send(first.frame(_at(quorum, silent)))
        await server.wait_for("a request to the new voter", lambda: _is_set(silent))
        expect_error(await server.ask(add_voter(quorum, NOBODY + 1)), 7)
        # The first ends too, before the next check begins.
        await first.receive(patience=10.0)


async def _is_set(voter: StubVoter) -> bool:
    return voter.asked.is_set()


def _remove_last(quorum: DescribedQuorum) -> RemoveRaftVoterRequest:
    """Return the request that a quorum of one refuses. Raises Skipped for a larger one."""
    if len(quorum.voters) > 1:
        raise Skipped("the quorum has voters besides the leader, which would be removed")
    directory = quorum.leader_directory
    return remove_voter(quorum, quorum.leader_id).replace(voter_directory_id=directory)


def _refuses_voter(sentence: str, code: int, supports: tuple[int, int]) -> Check:
    @scenario(sentence, _ADD, role=ServerRole.CONTROLLER, alone=True)
    async def run(server: Server) -> None:
        quorum = await describe_quorum(server)
        await quorum.demand_kraft_version(1)
        quorum.connection.demand(AddRaftVoterRequest)
        async with StubVoter(quorum.connection.own_host, supports) as voter:
            expect_error(await server.ask(_at(quorum, voter)), code)

    return run


SECTION = CheckSection(
    "quorum/kip-853/voters",
    "Voters are added and removed",
    {
        1: leader_exchange(
            "AddRaftVoter for another cluster gets INCONSISTENT_CLUSTER_ID.",
            _ADD,
            send=lambda quorum: add_voter(quorum).replace(cluster_id=OTHER_CLUSTER),
            expect=answers(104),
        ),
        2: leader_exchange(
            "AddRaftVoter: the cluster id is checked before the listeners.",
            _ORDER,
            send=lambda quorum: _without_listener(quorum, cluster_id=OTHER_CLUSTER),
            expect=answers(104),
        ),
        3: leader_exchange(
            "AddRaftVoter for an id that votes already gets DUPLICATE_VOTER.",
            _ADD,
            send=lambda quorum: add_voter(quorum, quorum.leader_id),
            expect=answers(126),
            kraft_version=1,
            alone=True,
        ),
        4: leader_exchange(
            "AddRaftVoter without the quorum's own listener gets INVALID_REQUEST.",
            _ADD,
            send=_without_listener,
            expect=answers(42),
        ),
        5: leader_exchange(
            "AddRaftVoter: the listeners are checked before the id.",
            _ORDER,
            send=lambda quorum: _without_listener(quorum, voter_id=quorum.leader_id),
            expect=answers(42),
        ),
        6: leader_exchange(
            "AddRaftVoter without a directory id gets INVALID_REQUEST.",
            _ORDER,
            send=lambda quorum: add_voter(quorum).replace(voter_directory_id=NO_DIRECTORY),
            expect=answers(42),
        ),
        7: leader_exchange(
            "AddRaftVoter gets UNSUPPORTED_VERSION at kraft.version 0.",
            kip(853, "KRaft version"),
            send=add_voter,
            expect=answers(35),
            kraft_version=0,
        ),
        8: leader_exchange(
            "AddRaftVoter for a voter that cannot be reached ends with REQUEST_TIMED_OUT.",
            _ADD,
            send=lambda quorum: add_voter(quorum, randrange(NOBODY, 1 << 31)),
            expect=answers(7),
            kraft_version=1,
            alone=True,
        ),
        9: _refuses_voter(
            "AddRaftVoter for a voter that has not the finalized kraft.version is refused.",
            42,
            (2, 3),
        ),
        10: _refuses_voter(
            "AddRaftVoter for a voter that has not caught up ends with REQUEST_TIMED_OUT.",
            7,
            (0, 1),
        ),
        11: _second_change,
        12: leader_exchange(
            "RemoveRaftVoter for another cluster gets INCONSISTENT_CLUSTER_ID.",
            _REMOVE,
            send=lambda quorum: remove_voter(quorum).replace(cluster_id=OTHER_CLUSTER),
            expect=answers(104),
        ),
        13: leader_exchange(
            "RemoveRaftVoter for an id that does not vote gets VOTER_NOT_FOUND.",
            _REMOVE,
            send=remove_voter,
            expect=answers(127),
            kraft_version=1,
        ),
        14: leader_exchange(
            "RemoveRaftVoter for a voter's id with another directory gets VOTER_NOT_FOUND.",
            _REMOVE,
            send=lambda quorum: remove_voter(quorum, quorum.leader_id),
            expect=answers(127),
            kraft_version=1,
        ),
        15: leader_exchange(
            "RemoveRaftVoter gets UNSUPPORTED_VERSION at kraft.version 0.",
            kip(853, "KRaft version"),
            send=remove_voter,
            expect=answers(35),
            kraft_version=0,
        ),
        16: leader_exchange(
            "RemoveRaftVoter without a directory id gets INVALID_REQUEST.",
            kafka("KafkaRaftClient.handleRemoveVoterRequest"),
            send=lambda quorum: remove_voter(quorum).replace(voter_directory_id=NO_DIRECTORY),
            expect=answers(42),
        ),
        17: leader_exchange(
            "AddRaftVoter for another cluster is refused at a broker too.",
            kip(853, "AddVoter"),
            send=lambda quorum: add_voter(quorum).replace(cluster_id=OTHER_CLUSTER),
            expect=answers(104),
            role=ServerRole.BROKER,
        ),
        18: leader_exchange(
            "RemoveRaftVoter for the last voter gets INVALID_REQUEST.",
            _REMOVE,
            send=_remove_last,
            expect=answers(42),
            kraft_version=1,
            needs=Need.THROW_AWAY,
        ),
    },
)
