"""Fenced and stopping replicas, with brokers of the check's own (KIP-841)."""

from __future__ import annotations

from kwire.conform.check import Check, CheckSection, Run, scenario
from kwire.conform.checks.partitions.own_partition import OwnPartition, own_partition
from kwire.conform.expectation import expect, expect_equal, expect_error, first_error
from kwire.conform.own_broker import OwnBroker
from kwire.conform.server import Server
from kwire.conform.vocabulary import Need, SentenceSource, ServerRole, kafka, kip
from kwire.error_codes import ErrorCode
from kwire.messages.a43_elect_leaders import ElectLeadersRequest, TopicPartitions

SECTION = CheckSection("partitions/kip-841/eligibility", "Fenced and stopping replicas")

_PROPOSED = kip(841, "Proposed Changes")
_PREFERRED, _UNCLEAN = 0, 1
_NO_LEADER = -1


def _own(sentence: str, source: SentenceSource, run: Run) -> Check:
    # Alone, since other checks take a broker that is up for one that stays.
    declare = scenario(
        sentence, source, role=ServerRole.CONTROLLER, needs=Need.THROW_AWAY, alone=True
    )
    return declare(run)


async def _pair(server: Server) -> tuple[OwnBroker, OwnBroker, OwnPartition]:
    """Return two brokers and a partition on both, led by the first."""
    first, second = await OwnBroker.register(server), await OwnBroker.register(server)
    partition = await own_partition(server, first.id, second.id)
    expect_equal("leader", partition.state.leader, first.id)
    expect_equal("ISR", sorted(partition.state.isr), sorted((first.id, second.id)))
    return first, second, partition


async def _fenced_leaves(server: Server) -> None:
    first, second, partition = await _pair(server)
    expect_error(await second.beat(want_fence=True), ErrorCode.NONE)
    expect_equal("ISR", (await partition.read()).state.isr, (first.id,))


async def _fenced_leader(server: Server) -> None:
    first, second, partition = await _pair(server)
    expect_error(await first.beat(want_fence=True), ErrorCode.NONE)
    after = (await partition.read()).state
    expect_equal("leader", after.leader, second.id)
    expect(after.leader_epoch > partition.state.leader_epoch, "a later leader epoch", after)


async def _fenced_refused(server: Server) -> None:
    first, second, partition = await _pair(server)
    expect_error(await second.beat(want_fence=True), ErrorCode.NONE)
    after = await partition.read()
    request = after.alter(isr=[first.id, second.id])
    expect_error(await server.ask(request, 3), ErrorCode.INELIGIBLE_REPLICA)


async def _stopping_refused(server: Server) -> None:
    first, second, partition = await _pair(server)
    # A third leads on, so that the second stays in controlled shutdown for a while.
    other = await own_partition(server, second.id, first.id)
    expect_error(await second.beat(want_shut_down=True), ErrorCode.NONE)
    after = await partition.read()
    expect_equal("ISR", after.state.isr, (first.id,))
    expect((await other.read()).state.leader != second.id, "another leader", second.id)
    request = after.alter(isr=[first.id, second.id])
    expect_error(await server.ask(request, 3), ErrorCode.INELIGIBLE_REPLICA)


async def _new_partition(server: Server) -> None:
    first, second = await OwnBroker.register(server), await OwnBroker.register(server)
    expect_error(await first.beat(want_fence=True), ErrorCode.NONE)
    state = (await own_partition(server, first.id, second.id)).state
    expect_equal("ISR", state.isr, (second.id,))
    expect_equal("leader", state.leader, second.id)


async def _not_elected(server: Server) -> None:
    first, second, partition = await _pair(server)
    expect_error(await first.beat(want_fence=True), ErrorCode.NONE)
    wanted = [TopicPartitions(topic=partition.name, partitions=(0,))]
    request = ElectLeadersRequest(
        election_type=_PREFERRED, topic_partitions=wanted, timeout_ms=5000
    )
    expect_error(await server.ask(request), ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE)
    expect_equal("leader", (await partition.read()).state.leader, second.id)
    expect_error(await second.beat(want_fence=True), ErrorCode.NONE)
    answer = await server.ask(request.replace(election_type=_UNCLEAN))
    expect(first_error(answer), "an error of the unclean election", "none")
    expect_equal("leader", (await partition.read()).state.leader, _NO_LEADER)


async def _comes_back(server: Server) -> None:
    first, second, partition = await _pair(server)
    expect_error(await second.beat(want_fence=True), ErrorCode.NONE)
    await second.unfence()
    after = await partition.read()
    answer = await server.ask(after.alter(isr=[first.id, second.id]), 3)
    expect_error(answer, ErrorCode.NONE)
    expect_equal("ISR", sorted((await partition.read()).state.isr), sorted((first.id, second.id)))


async def _not_the_leader(server: Server) -> None:
    first, second, partition = await _pair(server)
    expect_error(
        await server.ask(partition.alter(sender=second.id, isr=[first.id]), 3),
        ErrorCode.INVALID_REQUEST,
    )


SECTION[1] = _own("A replica that is fenced leaves the ISR.", _PROPOSED, _fenced_leaves)
SECTION[2] = _own("A leader that is fenced is replaced.", _PROPOSED, _fenced_leader)
SECTION[3] = _own("A fenced replica cannot join the ISR.", _PROPOSED, _fenced_refused)
SECTION[4] = _own(
    "A replica in controlled shutdown leaves the ISR and cannot join it.",
    _PROPOSED,
    _stopping_refused,
)
SECTION[5] = _own("A new partition has no fenced replica in its ISR.", _PROPOSED, _new_partition)
SECTION[6] = _own("A fenced replica is not elected, preferred or not.", _PROPOSED, _not_elected)
SECTION[7] = _own("A replica that was fenced can join again.", _PROPOSED, _comes_back)
SECTION[8] = _own(
    "A change of a partition by a broker that does not lead it gets INVALID_REQUEST.",
    kafka("ReplicationControlManager.validateAlterPartitionData"),
    _not_the_leader,
)
