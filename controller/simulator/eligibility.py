"""KIP-841's two invariants, at every batch that is committed."""

from __future__ import annotations

from collections.abc import Iterable

from controller.simulator.violation import Violation
from kwire.image import EMPTY, MetadataImage, apply_all
from kwire.image.partition import NO_LEADER, PartitionRegistration
from kwire.metadata_records import VersionedRecord


class Eligibility:
    """Follows the metadata as it is committed. A batch is applied as one, so that its records may
    disagree with each other on the way. After it:

    EligibleIsr: "a fenced or in-controlled-shutdown replica is not eligible to be in the ISR".
    Nobody is who joins an ISR, nor any member where there is a leader. An ISR without a leader
    keeps its last member, which nobody could replace.
    EligibleLeader: "a fenced or in-controlled-shutdown replica is not eligible to become leader".
    Who leads is in the ISR, too.
    """

    def __init__(self) -> None:
        self.image = EMPTY

    def committed(self, records: Iterable[VersionedRecord], base: int) -> None:
        """A batch of the log, each once, in their order. Raises a Violation."""
        before, self.image = self.image, apply_all(self.image, records)
        if before.topics is self.image.topics and before.cluster is self.image.cluster:
            return
        for topic in self.image.topics.by_id.values():
            for number, partition in topic.partitions.items():
                known = before.topics.partition(topic.id, number)
                joined = set(partition.isr) - set(known.isr if known else ())
                text = f"{topic.name}-{number} after offset {base}: {_state(partition)}"
                self._check(partition, joined, text)

    def _check(self, partition: PartitionRegistration, joined: set[int], text: str) -> None:
        is_active = self.image.cluster.is_active
        is_led = partition.leader != NO_LEADER
        if is_led and not (is_active(partition.leader) and partition.leader in partition.isr):
            raise Violation("EligibleLeader", f"{text}; active are {_active(self.image)}")
        if not all(is_active(id) for id in (partition.isr if is_led else joined)):
            raise Violation("EligibleIsr", f"{text}; active are {_active(self.image)}")


def _state(partition: PartitionRegistration) -> str:
    return f"leader {partition.leader}, ISR {list(partition.isr)}"


def _active(image: MetadataImage) -> list[int]:
    return sorted(id for id in image.cluster.brokers if image.cluster.is_active(id))
