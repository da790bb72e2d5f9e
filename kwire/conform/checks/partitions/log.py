"""The invariants of KIP-841 over the metadata log as it was written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple
from uuid import UUID

from kwire.conform.check import Check, CheckSection, scenario
from kwire.conform.checks.partitions.own_partition import own_pair, own_partition
from kwire.conform.expectation import expect
from kwire.conform.metadata_log import FetchedLog, LogStep, read_log
from kwire.conform.server import Server
from kwire.conform.vocabulary import Need, SentenceSource, ServerRole, Skipped, kafka, kip
from kwire.image.metadata import MetadataImage
from kwire.image.partition import PartitionRegistration
from kwire.messages.records.partition import PartitionRecord
from kwire.messages.records.partition_change import PartitionChangeRecord
from kwire.messages.records.register_broker import RegisterBrokerRecord
from kwire.messages.zk_migration_state import ZkMigrationState

SECTION = CheckSection("partitions/kip-841/log", "Invariants over the metadata log")


class PartitionStep(NamedTuple):
    """A partition before and after a record; before: None where it is new."""

    name: str
    before: PartitionRegistration | None
    after: PartitionRegistration
    image: MetadataImage


def _partition_steps(log: FetchedLog) -> Iterator[PartitionStep]:
    for step in log.steps:
        record = step.record
        if isinstance(record, PartitionRecord | PartitionChangeRecord):
            topic_id: UUID = record.topic_id
            topic = step.after.topics.by_id[topic_id]
            earlier = step.before.topics.by_id.get(topic_id)
            before = earlier.partitions.get(record.partition_id) if earlier else None
            name = f"{topic.name}-{record.partition_id} at {step.batch.base_offset}"
            after = topic.partitions[record.partition_id]
            yield PartitionStep(name, before, after, step.after)


def _invariant(
    sentence: str, source: SentenceSource, broken: Callable[[PartitionStep], str]
) -> Check:
    """Return a check that `broken` is empty for every partition step, those of an own topic too."""

    @scenario(sentence, source, role=ServerRole.CONTROLLER, needs=Need.RESOURCES)
    async def run(server: Server) -> None:
        try:
            partition = await own_pair(server)
            # A change beside the creation: the same ISR again would be none.
            await server.ask(partition.alter(isr=[partition.state.leader]), 3)
        except Skipped:
            await own_partition(server)
        for step in _partition_steps(await read_log(server)):
            text = broken(step)
            expect(not text, sentence, f"{step.name}: {text}")

    return run


def _outside(step: PartitionStep) -> str:
    strangers = set(step.after.isr) - set(step.after.replicas)
    return f"ISR {step.after.isr}, replicas {step.after.replicas}" if strangers else ""


def _leader_outside(step: PartitionStep) -> str:
    state = step.after
    outside = state.leader >= 0 and state.leader not in state.isr
    return f"leader {state.leader}, ISR {state.isr}" if outside else ""


def _first_epochs(step: PartitionStep) -> str:
    epochs = step.after.leader_epoch, step.after.partition_epoch
    if step.image.features.zk_migration_state != ZkMigrationState.NONE:
        return ""  # a migration takes over the epochs that partitions had
    return f"epochs {epochs}" if step.before is None and epochs != (0, 0) else ""


def _ineligible(step: PartitionStep) -> str:
    """Return who came into the ISR, or leads from then on, and is not active."""
    isr = set(step.before.isr) if step.before is not None else set()
    came = set(step.after.isr) - isr
    if step.before is None or step.before.leader != step.after.leader:
        came |= {step.after.leader} - {-1}
    late = [broker for broker in came if not step.image.cluster.is_active(broker)]
    return f"{sorted(late)} are fenced or in controlled shutdown" if late else ""


def _directories(step: PartitionStep) -> str:
    state = step.after
    one_each = len(state.directories) == len(state.replicas) == len(set(state.replicas))
    return "" if one_each else f"replicas {state.replicas}, directories {state.directories}"


SECTION[1] = _invariant("The ISR has replicas only.", kip(841, "Proposed Changes"), _outside)
SECTION[2] = _invariant("A leader is in the ISR.", kip(841, "Proposed Changes"), _leader_outside)
SECTION[3] = _invariant(
    "A new partition has leader epoch 0 and partition epoch 0.",
    kafka("ReplicationControlManager.buildPartitionRegistration"),
    _first_epochs,
)
SECTION[4] = _invariant(
    "A broker that joins an ISR or becomes a leader is neither fenced nor shutting down.",
    kip(841, "Proposed Changes"),
    _ineligible,
)
SECTION[5] = _invariant(
    "Each replica of a partition is on another broker, in one directory.",
    kip(858, "PartitionRecord"),
    _directories,
)


@SECTION.check(6, kip(631, "BrokerRegistration"), role=ServerRole.CONTROLLER)
async def _(server: Server) -> None:
    """A broker's epoch is an offset of the batch that has its registration."""
    steps: list[LogStep] = [
        step
        for step in (await read_log(server)).steps
        if isinstance(step.record, RegisterBrokerRecord)
    ]
    if not steps:
        raise Skipped("no broker registered in the log that is there")
    for step in steps:
        assert isinstance(step.record, RegisterBrokerRecord)
        # A leader may put the records of several requests into one batch.
        first, last, came = step.batch.base_offset, step.batch.last_offset, step.record.broker_epoch
        known = step.before.cluster.brokers.get(step.record.broker_id)
        if known is not None and known.incarnation_id == step.record.incarnation_id:
            continue  # a process that registers once more keeps its epoch
        text = f"an epoch of broker {step.record.broker_id} from {first} to {last}"
        expect(first <= came <= last, text, came)
