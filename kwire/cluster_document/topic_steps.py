"""The steps that make a topic as a document has it: create, grow, reassign, configure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from kwire.admin import registry
from kwire.admin.configs import ConfigChange
from kwire.admin.topic_partition import TopicPartition
from kwire.admin.topics import NewTopic, TopicGrowth
from kwire.cluster_document.apply_step import ApplyStep, NotApplied, Planned
from kwire.cluster_document.comparison import Change, Difference
from kwire.cluster_document.document import DocumentTopic
from kwire.messages.config_resource import ConfigResource, ResourceType

HIDDEN = "the document does not show the value: set it by `kwire configs set`"

_CONFIGS, _ASSIGNMENTS = "configs.", "assignments."


def topic_steps(topic: DocumentTopic, differences: Sequence[Difference]) -> Iterator[Planned]:
    """Yield the steps of one topic. differences: from the cluster to the document, all of it."""
    if differences[0].change is Change.ADDED and not differences[0].field:
        yield from _creation(topic, differences[0])
        return
    by_field = {difference.field: difference for difference in differences}
    if counted := by_field.get("partitions"):
        yield from _growth(topic, counted, differences)
    moved = [
        difference
        for difference in differences
        if difference.field.startswith(_ASSIGNMENTS) and difference.change is Change.CHANGED
    ]
    yield from (_reassignment(topic, difference) for difference in moved)
    factor = by_field.get("replicationFactor")
    if factor and not (topic.assignments is not None and moved):
        yield NotApplied(
            difference=factor,
            reason="it takes a reassignment: give the topic `assignments` in the document, or see"
            f" `kwire partitions reassign plan --rf {factor.new} {topic.name}`",
        )
    configs = [difference for difference in differences if difference.field.startswith(_CONFIGS)]
    resource = ConfigResource(ResourceType.TOPIC, topic.name)
    yield from config_steps(resource, configs, prefix=_CONFIGS)


def config_steps(
    resource: ConfigResource, differences: Sequence[Difference], *, prefix: str = ""
) -> Iterator[Planned]:
    """Yield the step that sets the keys of a resource. prefix: of the fields that are keys."""
    shown = [difference for difference in differences if difference.new is not None]
    for difference in differences:
        if difference.new is None:
            yield NotApplied(difference=difference, reason=HIDDEN)
    if shown:
        yield ApplyStep(
            operation=registry.INCREMENTAL_ALTER_CONFIGS,
            key=resource,
            argument=tuple(
                ConfigChange(name=difference.field.removeprefix(prefix), value=str(difference.new))
                for difference in shown
            ),
            differences=tuple(shown),
            records=len(shown),
        )


def _creation(topic: DocumentTopic, difference: Difference) -> Iterator[Planned]:
    configs = topic.configs or {}
    for key in (key for key, value in configs.items() if value is None):
        hidden = replace(difference, field=f"{_CONFIGS}{key}", old=None, new=None)
        yield NotApplied(difference=hidden, reason=HIDDEN)
    replicas = sum(map(len, topic.assignments or ()))
    yield ApplyStep(
        operation=registry.CREATE_TOPICS,
        key=topic.name,
        argument=NewTopic(
            name=topic.name,
            partitions=topic.partitions,
            replication_factor=topic.replication_factor,
            assignments=topic.assignments or (),
            configs={key: value for key, value in configs.items() if value is not None},
        ),
        differences=(difference,),
        records=1 + max(topic.partitions, replicas) + len(configs),
    )


def _growth(
    topic: DocumentTopic, counted: Difference, differences: Sequence[Difference]
) -> Iterator[Planned]:
    old = counted.old
    assert isinstance(old, int), "both sides have a number of partitions"
    if topic.partitions < old:
        yield NotApplied(
            difference=counted,
            reason=f"topics lose no partitions: write partitions: {old}, or delete {topic.name} and"
            " create it anew",
        )
        return
    placed = [
        difference
        for difference in differences
        if difference.field.startswith(_ASSIGNMENTS) and difference.change is Change.ADDED
    ]
    yield ApplyStep(
        operation=registry.CREATE_PARTITIONS,
        key=topic.name,
        argument=TopicGrowth(
            partitions=topic.partitions,
            assignments=(topic.assignments or ())[old:],
        ),
        differences=(counted, *placed),
        records=topic.partitions - old,
    )


def _reassignment(topic: DocumentTopic, difference: Difference) -> ApplyStep:
    number = int(difference.field.removeprefix(_ASSIGNMENTS))
    assert topic.assignments is not None, "a document without them has no such difference"
    return ApplyStep(
        operation=registry.ALTER_PARTITION_REASSIGNMENTS,
        key=TopicPartition(topic.name, number),
        argument=topic.assignments[number],
        differences=(difference,),
    )
