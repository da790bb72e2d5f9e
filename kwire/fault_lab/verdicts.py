"""Checks a history with the models, key by key, and tells wrong effects from stale refusals.

A refusal says how the key was when it came; a node that does not lead, or leads no more, may give
it from an earlier state. Where a history fits as soon as some refusals may be stale, those are
named, and the rest of it is in order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from kwire.fault_lab.anomaly import Anomaly
from kwire.fault_lab.history import Fate, RecordedOperation, RunHistory
from kwire.fault_lab.linearizable import (
    Linearization,
    SequentialModel,
    check_linearizable,
)
from kwire.fault_lab.models import MODELS

LINEARIZABLE = "the operations on one key look as if each took effect at one moment"
NOT_STALE = "a refusal is of the state between request and answer, not of an earlier one"
SHOWN = 12
"""Operations of the history that an anomaly shows before those that do not fit."""


@dataclass(slots=True, kw_only=True)
class KeyVerdicts:
    """keys: how many were checked. undecided: keys whose search was given up."""

    keys: int = 0
    undecided: list[str] = field(default_factory=list)
    anomalies: list[Anomaly] = field(default_factory=list)


def check_keys(history: RunHistory) -> KeyVerdicts:
    """Check every key that has a model."""
    verdicts = KeyVerdicts()
    for key, operations in history.by_key().items():
        model = MODELS.get(key.partition(":")[0])
        if model is None:
            continue
        verdicts.keys += 1
        found = check_linearizable(model, operations)
        if found.valid is None:
            verdicts.undecided.append(key)
        elif not found.valid:
            stale = stale_refusals(model, operations)
            verdicts.anomalies += [_stale(key, operations, refusal) for refusal in stale] or [
                _anomaly(key, found)
            ]
    return verdicts


def stale_refusals(
    model: SequentialModel, operations: Sequence[RecordedOperation]
) -> list[RecordedOperation]:
    """Return refusals and probes that must be stale for the history to fit; none if that does not
    explain it.

    1. One alone, if one is enough: first look at those of a node that had not made the last change.
    2. Else the fewest that leaving them out one by one finds, the others left out first.
    """
    suspects = [operation for operation in operations if _reads_state(operation)]
    if not _fits(model, operations, suspects):
        return []
    suspects.sort(key=lambda suspect: _changed_last(operations, suspect))
    # 1.
    for suspect in suspects:
        if _fits(model, operations, [suspect]):
            return [suspect]
    # 2.
    for suspect in tuple(reversed(suspects)):
        fewer = [operation for operation in suspects if operation is not suspect]
        if _fits(model, operations, fewer):
            suspects = fewer
    return suspects


def _changed_last(operations: Sequence[RecordedOperation], suspect: RecordedOperation) -> bool:
    """Return True if the node of a refusal had made the last acknowledged change before it."""
    changes = [
        operation
        for operation in operations
        if operation.fate is Fate.OK
        and not _reads_state(operation)
        and operation.kind != "read"
        and operation.end < suspect.begin
    ]
    return bool(changes) and max(changes, key=lambda change: change.end).node == suspect.node


def _fits(
    model: SequentialModel,
    operations: Sequence[RecordedOperation],
    stale: Sequence[RecordedOperation],
) -> bool:
    marked = {id(operation) for operation in stale}
    changed = [
        replace(operation, stale=True) if id(operation) in marked else operation
        for operation in operations
    ]
    return check_linearizable(model, changed).valid is True


def _reads_state(operation: RecordedOperation) -> bool:
    return operation.fate is Fate.REFUSED or operation.kind == "probe"


def _stale(
    key: str, operations: Sequence[RecordedOperation], refusal: RecordedOperation
) -> Anomaly:
    came = f"{_short(refusal)} by node {refusal.node}: so it was earlier, and not any more"
    before = [
        operation
        for operation in operations
        if operation.fate is Fate.OK and operation.begin < refusal.end and operation is not refusal
    ]
    return Anomaly(
        rule=NOT_STALE,
        about=key,
        came=came,
        operations=(*before[-4:], refusal),
        name="stale-refusal",
    )


def _anomaly(key: str, found: Linearization) -> Anomaly:
    came = (
        f"after {len(found.order)} operations in an order that fits, none of"
        f" {len(found.stuck)} can come next: {', '.join(map(_short, found.stuck))}"
    )
    shown = (*found.order[-SHOWN:], *found.stuck)
    return Anomaly(
        rule=LINEARIZABLE, about=key, came=came, operations=shown, name="not-linearizable"
    )


def _short(operation: RecordedOperation) -> str:
    value = "" if operation.value is None else f" {operation.value}"
    result = "" if operation.result is None else f" {operation.result}"
    return f"{operation.kind}{value} at {operation.begin:.3f} {operation.fate.value}{result}"
