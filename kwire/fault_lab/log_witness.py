"""Holds the history against the metadata log: the log is the order in which changes took effect.

An operation that was acknowledged is in the log, once; and of two operations, of which one had
ended before the other began, the first stands before the second, whatever their keys are.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from kwire.fault_lab.anomaly import Anomaly
from kwire.fault_lab.history import Fate, RecordedOperation, RunHistory
from kwire.fault_lab.metadata_log import CommittedRecord
from kwire.messages.records.config import ConfigRecord
from kwire.messages.records.remove_topic import RemoveTopicRecord
from kwire.messages.records.topic import TopicRecord
from kwire.text.ids import uuid_text

LOST = "what was acknowledged is in the committed metadata log"
TWICE = "a change takes effect once"
UNDONE = "what a node refused without an effect is not in the metadata log"
ORDER = "the metadata log has changes in the order in which they were acknowledged"

AppliedEffect = tuple[str, str, object]
"""Kind, key and value of an operation, as the log shows it too."""


@dataclass(frozen=True, slots=True)
class PlacedOperation:
    """An operation and the offset of its record."""

    offset: int
    operation: RecordedOperation


def effects_in(records: Iterator[CommittedRecord]) -> dict[AppliedEffect, list[int]]:
    """Return the offsets of the changes that the workload makes, by what they are."""
    effects: defaultdict[AppliedEffect, list[int]] = defaultdict(list)
    names: dict[object, str] = {}
    for committed in records:
        match committed.record.record:
            case TopicRecord() as topic:
                names[topic.topic_id] = topic.name
                effect: AppliedEffect = ("create", f"topic:{topic.name}", uuid_text(topic.topic_id))
            case RemoveTopicRecord() as removed:
                name = names.get(removed.topic_id, "")
                effect = ("delete", f"topic:{name}", uuid_text(removed.topic_id))
            case ConfigRecord(name="interval.ms", value=str(value)) as config:
                effect = ("set", f"config:{config.resource_name}", int(value))
            case _:
                continue
        effects[effect].append(committed.offset)
    return dict(effects)


def effect_of(operation: RecordedOperation) -> AppliedEffect | None:
    """Return what an operation would leave in the log; None if it cannot be told apart."""
    if operation.kind in ("create", "delete") and operation.fate is Fate.OK:
        return operation.kind, operation.key, operation.result
    if operation.kind == "set" and operation.key.startswith("config:"):
        return "set", operation.key, operation.value
    return None


def check_witness(history: RunHistory, effects: dict[AppliedEffect, list[int]]) -> list[Anomaly]:
    """Return what the log contradicts."""
    anomalies = []
    placed: list[PlacedOperation] = []
    for operation in history.operations:
        effect = effect_of(operation)
        if effect is None:
            continue
        offsets = effects.get(effect, [])
        if operation.fate is Fate.OK and not offsets:
            anomalies.append(_anomaly(LOST, operation, f"{operation.kind} has no record"))
        elif len(offsets) > 1:
            anomalies.append(_anomaly(TWICE, operation, f"records at offsets {offsets}"))
        elif offsets and operation.fate is Fate.NOT_DONE:
            anomalies.append(_anomaly(UNDONE, operation, f"record at offset {offsets[0]}"))
        elif offsets:
            placed.append(PlacedOperation(offsets[0], operation))
    return [*anomalies, *_check_order(placed)]


def _check_order(placed: list[PlacedOperation]) -> Iterator[Anomaly]:
    """Find operations whose record stands before that of one that had ended before they began."""
    ended = sorted(
        (place for place in placed if place.operation.fate is Fate.OK),
        key=lambda place: place.operation.end,
    )
    latest: PlacedOperation | None = None
    index = 0
    for place in sorted(placed, key=lambda place: place.operation.begin):
        while index < len(ended) and ended[index].operation.end < place.operation.begin:
            if latest is None or ended[index].offset > latest.offset:
                latest = ended[index]
            index += 1
        if latest is not None and place.offset < latest.offset:
            came = f"offset {place.offset} began after offset {latest.offset} was acknowledged"
            pair = (latest.operation, place.operation)
            key = place.operation.key
            yield Anomaly(rule=ORDER, about=key, came=came, operations=pair, name="order")


def _anomaly(rule: str, operation: RecordedOperation, came: str) -> Anomaly:
    names = {LOST: "lost", TWICE: "twice", UNDONE: "undone"}
    return Anomaly(
        rule=rule, about=operation.key, came=came, operations=(operation,), name=names[rule]
    )
