"""Filters of partitions by their health, as those of kafka-topics --describe."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kwire.admin.client import AdminClient
from kwire.admin.outcomes import Outcomes
from kwire.admin.topic_descriptions import PartitionDescription, TopicDescription, TopicKey
from kwire.messages.config_resource import ConfigResource, ResourceType
from kwire.text.untrusted import whole_number

MIN_ISR = "min.insync.replicas"

TopicsWithMinimum = tuple[Outcomes[TopicKey, TopicDescription], Mapping[str, int]]
"""Descriptions, and min.insync.replicas by topic where a filter needs it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionFilter:
    """The partitions to show: those for which any of the flags holds, all without a flag."""

    under_replicated: bool
    under_min_isr: bool
    at_min_isr: bool
    unavailable: bool

    @property
    def needs_minimum(self) -> bool:
        """True if min.insync.replicas of the topics has to be known."""
        return self.under_min_isr or self.at_min_isr

    def shows(self, partition: PartitionDescription, minimum: int | None) -> bool:
        """True if a partition passes. minimum: its topic's min.insync.replicas, if known."""
        in_sync = len(partition.isr)
        if not (self.under_replicated or self.unavailable or self.needs_minimum):
            return True
        return (
            (self.unavailable and partition.leader_id is None)
            or (self.under_replicated and in_sync < len(partition.replicas))
            or (self.under_min_isr and minimum is not None and in_sync < minimum)
            or (self.at_min_isr and minimum is not None and in_sync == minimum)
        )


async def describe_with_minimum(
    admin: AdminClient, keys: Iterable[TopicKey] | None, health: PartitionFilter
) -> TopicsWithMinimum:
    """Describe topics, and their min.insync.replicas if a filter needs it."""
    outcomes = await admin.describe_topics(keys)
    if not health.needs_minimum:
        return outcomes, {}
    names = [topic.name for topic in outcomes.values()]
    resources = [ConfigResource(ResourceType.TOPIC, name) for name in names]
    configs = (await admin.describe_configs(resources, names=[MIN_ISR])).all()
    numbers = {
        resource.name: whole_number(entries[MIN_ISR].value or "", bits=31)
        for resource, entries in configs.items()
        if MIN_ISR in entries
    }
    return outcomes, {name: number for name, number in numbers.items() if number is not None}
