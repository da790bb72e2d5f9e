"""Finds content of ZooKeeper that a copy takes over as it is and that harms KRaft (KIP-866)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import cast

from kwire.configs import topic_keys
from kwire.configs.node_configs import node_key
from kwire.controller.handlers.topic_names import name_problem
from kwire.doctor.finding import Finding
from kwire.image.partition import NO_LEADER
from kwire.migration.operator.entries import EntryKind, FieldValues, topic_of
from kwire.migration.operator.findings import preflight
from kwire.migration.operator.zookeeper_entries import ZooKeeperReading
from kwire.text.phrases import count, examples
from kwire.zookeeper.znodes import TopicZnode


def harmful_content(reading: ZooKeeperReading) -> Iterator[Finding]:
    """Yield findings of content that no copy checks, and that does harm after it."""
    topics = {name: reading.entries[EntryKind.TOPIC][name] for name in _topics(reading)}
    partitions = {
        name: fields
        for name, fields in reading.entries[EntryKind.PARTITION].items()
        if topic_of(name) in topics
    }
    if doubled := [*_doubled_ids(topics)]:
        text = count(len(doubled), "id of several topics", "ids of several topics")
        yield preflight.DOUBLED_TOPIC_ID(text, *examples(doubled))
    if gaps := copied(reading.with_gaps, reading):
        text = f"{count(len(gaps), 'topic')} with gaps between the numbers of partitions"
        yield preflight.PARTITION_GAPS(text, *examples(gaps))
    if inconsistent := [
        f"{name}: {fault}" for name, fields in partitions.items() if (fault := _fault(fields))
    ]:
        text = count(len(inconsistent), "partition contradicts", "partitions contradict")
        yield preflight.INCONSISTENT_PARTITION(f"{text} itself", *examples(inconsistent))
    if leaderless := [name for name, fields in partitions.items() if _is_leaderless(fields)]:
        text = f"{count(len(leaderless), 'partition')} without a leader and with an empty ISR"
        yield preflight.NO_LEADER(text, *examples(leaderless))
    if invalid := [f"{name!r}: {problem}" for name in topics if (problem := name_problem(name))]:
        text = count(len(invalid), "topic with an invalid name", "topics with invalid names")
        yield preflight.TOPIC_NAME(text, *examples(invalid))
    if refused := [*_refused_values(reading, topics)]:
        text = f"{count(len(refused), 'value')} that the configuration refuses"
        yield preflight.REFUSED_VALUE(text, *examples(refused))
    known = {*reading.entries[EntryKind.TOPIC], *_unread_topics(reading)}
    configured = (_resource(name) for name in reading.entries[EntryKind.CONFIG])
    if absent := [name for kind, name in configured if kind == "topic" and name not in known]:
        text = f"configuration of {count(len(absent), 'topic')} that does not exist"
        yield preflight.CONFIG_WITHOUT_TOPIC(text, *examples(absent))


def copied(topics: Iterable[str], reading: ZooKeeperReading) -> list[str]:
    """Return the topics but for those that are to be deleted, which no copy looks at."""
    deletions = reading.entries[EntryKind.PENDING_DELETION]
    return [name for name in topics if name not in deletions]


def _topics(reading: ZooKeeperReading) -> list[str]:
    return copied(reading.entries[EntryKind.TOPIC], reading)


def _doubled_ids(topics: Mapping[str, FieldValues]) -> Iterator[str]:
    names: defaultdict[object, list[str]] = defaultdict(list)
    for name, fields in topics.items():
        names[fields["id"]].append(name)
    for id, same in names.items():
        if id is not None and len(same) > 1:
            yield f"{id}: {', '.join(sorted(same))}"


def _unread_topics(reading: ZooKeeperReading) -> Iterator[str]:
    for problem in reading.problems:
        if problem.path.startswith(f"{TopicZnode.parent}/"):
            yield problem.path.split("/")[3]


def _fault(fields: FieldValues) -> str:
    """Return the contradiction in a partition; empty if there is none."""
    replicas, isr = (cast("list[int]", fields[field]) for field in ("replicas", "isr"))
    if not replicas:
        return "no replicas"
    for field, ids in (("replicas", replicas), ("ISR", isr)):
        if len(set(ids)) < len(ids):
            return f"{field} {ids}"
    if not set(isr) <= set(replicas):
        return f"ISR {isr} is not within the replicas {replicas}"
    leader = fields["leader"]
    return "" if leader in (NO_LEADER, *isr) else f"leader {leader} is not in the ISR {isr}"


def _is_leaderless(fields: FieldValues) -> bool:
    return fields["leader"] == NO_LEADER and not fields["isr"]


def _refused_values(reading: ZooKeeperReading, topics: Mapping[str, FieldValues]) -> Iterator[str]:
    """Yield what has another type or another range than its key; unknown keys are ignored."""
    for resource, values in reading.entries[EntryKind.CONFIG].items():
        kind, name = _resource(resource)
        if kind == "topic" and name not in topics:
            continue
        for key, value in values.items():
            known = topic_keys.KEYS.get(key) if kind == "topic" else node_key(key)
            # A value that may be secret is a HiddenValue, whose type cannot be wrong.
            if known is not None and isinstance(value, str) and not known.is_valid(value):
                yield f"{key}={value} of {resource}"


def _resource(config: str) -> tuple[str, str]:
    kind, _, name = config.partition(" ")
    return kind, name
