"""Verdicts on keys: a stale refusal is told apart from a wrong effect, and its node is named."""

from __future__ import annotations

from typing import Any

from kwire.fault_lab.history import Fate, RecordedOperation, RunHistory
from kwire.fault_lab.verdicts import check_keys


def operation(kind: str, at: float, fate: Fate = Fate.OK, **more: Any) -> RecordedOperation:
    return RecordedOperation(
        key="topic:t", kind=kind, fate=fate, begin=at, end=at + 0.5, **{"node": 1, **more}
    )


CREATED = operation("create", 0, value=1, result="A")
EXISTS = operation("create", 2, Fate.REFUSED, value=1, result="TOPIC_ALREADY_EXISTS")
ABSENT = operation("delete", 1, Fate.REFUSED, result="UNKNOWN_TOPIC_OR_PARTITION", node=2)


def names(*operations: RecordedOperation) -> list[str]:
    return [anomaly.name for anomaly in check_keys(RunHistory(operations)).anomalies]


def test_a_history_in_order_has_no_anomaly() -> None:
    assert names(CREATED, EXISTS) == []


def test_a_refusal_from_an_earlier_state_is_named_with_its_node() -> None:
    (anomaly,) = check_keys(RunHistory([CREATED, ABSENT, EXISTS])).anomalies
    assert anomaly.name == "stale-refusal"
    assert "delete at 1.000 refused UNKNOWN_TOPIC_OR_PARTITION by node 2" in anomaly.came
    assert anomaly.operations == (CREATED, ABSENT)


def test_a_wrong_effect_is_no_stale_refusal() -> None:
    twice = operation("create", 3, value=1, result="B")
    assert names(CREATED, EXISTS, twice) == ["not-linearizable"]
    never = operation("grow", 1, Fate.REFUSED, value=9, result="INVALID_PARTITIONS")
    assert names(CREATED, never) == ["not-linearizable"]
