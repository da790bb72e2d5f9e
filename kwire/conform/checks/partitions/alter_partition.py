"""AlterPartition: what a controller refuses, and in which order (KIP-497, KIP-841, KIP-903)."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

from kwire.conform.check import Check, CheckSection, gets, scenario
from kwire.conform.checks.partitions.own_partition import OwnPartition, own_pair, own_partition
from kwire.conform.expectation import expect_equal, expect_error
from kwire.conform.quorum import NOBODY
from kwire.conform.server import Server
from kwire.conform.vocabulary import Need, SentenceSource, ServerRole, guide, kafka, kip
from kwire.error_codes import ErrorCode
from kwire.messages.a56_alter_partition import AlterPartitionRequest

SECTION = CheckSection(
    "partitions/kip-841/alter-partition", "Changes of the ISR that a controller refuses"
)

_ORDER = kafka("ReplicationControlManager.validateAlterPartitionData")
_SCHEMA = kip(841, "AlterPartition RPC")
_UNKNOWN_TOPIC_ID = UUID(int=(0x6B77697265 << 64) + 2)
_RECOVERING = 1


def _refused(
    sentence: str,
    source: SentenceSource,
    send: Callable[[OwnPartition], AlterPartitionRequest],
    *codes: int,
) -> Check:
    @scenario(gets(sentence, *codes), source, role=ServerRole.CONTROLLER, needs=Need.RESOURCES)
    async def run(server: Server) -> None:
        partition = await own_partition(server)
        request = send(partition)
        answer = await server.ask(request, 3)
        expect_error(answer, *codes)
        came = [part.partition_index for topic in answer.topics for part in topic.partitions]
        if came:
            expect_equal("indexes", came, [request.topics[0].partitions[0].partition_index])

    return run


SECTION[1] = _refused(
    "A broker that is not registered gets",
    kip(497, "AlterIsr"),
    lambda own: own.alter(sender=NOBODY, broker_epoch=1),
    ErrorCode.STALE_BROKER_EPOCH,
)
SECTION[2] = _refused(
    "An earlier epoch of a broker gets",
    kip(497, "AlterIsr"),
    lambda own: own.alter(broker_epoch=own.epoch(own.state.leader) - 1),
    ErrorCode.STALE_BROKER_EPOCH,
)
SECTION[3] = _refused(
    "The broker's epoch is checked before the topic.",
    kafka("ReplicationControlManager.alterPartition"),
    lambda own: own.alter(broker_epoch=-1, topic_id=_UNKNOWN_TOPIC_ID),
    ErrorCode.STALE_BROKER_EPOCH,
)
SECTION[4] = _refused(
    "A topic id that does not exist gets",
    _SCHEMA,
    lambda own: own.alter(topic_id=_UNKNOWN_TOPIC_ID),
    ErrorCode.UNKNOWN_TOPIC_ID,
)
SECTION[5] = _refused(
    "A partition that does not exist gets",
    guide("Error Codes"),
    lambda own: own.alter(partition_index=9),
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
)
SECTION[6] = _refused(
    "A leader epoch that the controller does not know yet gets",
    _ORDER,
    lambda own: own.alter(leader_epoch=own.state.leader_epoch + 1),
    ErrorCode.NOT_CONTROLLER,
)
SECTION[7] = _refused(
    "A partition epoch that the controller does not know yet gets",
    _ORDER,
    lambda own: own.alter(partition_epoch=own.state.partition_epoch + 1),
    ErrorCode.NOT_CONTROLLER,
)
SECTION[8] = _refused(
    "An earlier leader epoch gets",
    kip(497, "AlterIsr"),
    lambda own: own.alter(leader_epoch=own.state.leader_epoch - 1),
    ErrorCode.FENCED_LEADER_EPOCH,
)
SECTION[9] = _refused(
    "An earlier partition epoch gets",
    kip(497, "AlterIsr"),
    lambda own: own.alter(partition_epoch=own.state.partition_epoch - 1),
    ErrorCode.INVALID_UPDATE_VERSION,
)
SECTION[10] = _refused(
    "The leader's epoch is checked before the partition's.",
    _ORDER,
    lambda own: own.alter(
        leader_epoch=own.state.leader_epoch - 1, partition_epoch=own.state.partition_epoch - 1
    ),
    ErrorCode.FENCED_LEADER_EPOCH,
)
SECTION[11] = _refused(
    "An ISR with a broker that has no replica gets",
    _ORDER,
    lambda own: own.alter(isr=[*own.state.isr, NOBODY]),
    ErrorCode.INVALID_REQUEST,
)
SECTION[12] = _refused(
    "An ISR with a broker twice gets",
    _ORDER,
    lambda own: own.alter(isr=[*own.state.isr, *own.state.isr]),
    ErrorCode.INVALID_REQUEST,
)
SECTION[13] = _refused(
    "An ISR without anybody gets", _ORDER, lambda own: own.alter(isr=[]), ErrorCode.INVALID_REQUEST
)
SECTION[14] = _refused(
    "A leader that has recovered cannot go back to recovering.",
    kip(704, "AlterPartition"),
    lambda own: own.alter(leader_recovery_state=_RECOVERING),
    ErrorCode.INVALID_REQUEST,
)
SECTION[15] = _refused(
    "A member of the ISR with another broker epoch gets",
    kip(903, "Public Interfaces"),
    lambda own: own.alter(isr_epoch=own.epoch(own.state.leader) + 1),
    ErrorCode.INELIGIBLE_REPLICA,
)


@SECTION.check(16, kip(497, "AlterIsr"), role=ServerRole.CONTROLLER, needs=Need.RESOURCES)
async def _(server: Server) -> None:
    """An accepted change returns the partition with the next partition epoch."""
    partition = await own_pair(server)
    before = partition.state
    answer = await server.ask(partition.alter(isr=[before.leader]), 3)
    expect_error(answer, ErrorCode.NONE)
    came = answer.topics[0].partitions[0]
    expect_equal(
        "leader", (came.leader_id, came.leader_epoch), (before.leader, before.leader_epoch)
    )
    expect_equal("ISR", came.isr, (before.leader,))
    expect_equal("partition epoch", came.partition_epoch, before.partition_epoch + 1)
