"""Decides whether a history of one key is linearizable (Wing and Gong 1993, Lowe 2017).

Each operation takes effect at one moment between its begin and its end. The search takes the
operations in every order that their times allow, follows the model, and remembers pairs of (set of
operations taken, state) that led nowhere, as porcupine and knossos do.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import inf
from typing import Protocol

from kwire.fault_lab.history import Fate, RecordedOperation

STEPS = 400_000
"""Steps of the search for one key, after which it is given up: seconds."""


class SequentialModel(Protocol):
    """The behaviour of a key whose operations come one after the other; states are compared."""

    name: str

    @property
    def initial(self) -> Hashable:
        """The state before the first operation."""

    def steps(self, state: Hashable, operation: RecordedOperation) -> Sequence[Hashable]:
        """Return the states in which an operation of this fate may leave the key; none if it
        cannot have come out so."""

    def is_read(self, operation: RecordedOperation) -> bool:
        """True if the operation never changes the state."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Linearization:
    """The result for one key. valid: None if the search was given up.

    order: of a valid one the operations in an order that explains them; else the longest order
    that was found, and stuck: the operations of which none can come next.
    """

    valid: bool | None
    order: tuple[RecordedOperation, ...] = ()
    stuck: tuple[RecordedOperation, ...] = ()
    steps: int = 0


def check_linearizable(
    model: SequentialModel, operations: Sequence[RecordedOperation], limit: int = STEPS
) -> Linearization:
    """Look for an order of the operations that their times and the model allow.

    1. Leave out what cannot have had an effect, and reads without an answer: they forbid nothing.
    2. Of those that may come next, take a read that agrees with the state at once: it changes
       nothing, so taking it forbids nothing.
    3. Else try each in turn, and go back where none fits. Operations without an answer need not be
       taken at all.
    """
    # 1.
    entries = [
        operation
        for operation in operations
        if operation.fate is not Fate.NOT_DONE
        and not (operation.fate is Fate.UNKNOWN and model.is_read(operation))
    ]
    entries.sort(key=lambda operation: (_begin(operation), operation.end))
    return _Search(model, entries, limit).run()


def _begin(operation: RecordedOperation) -> float:
    # A stale read may show any earlier state.
    return -inf if operation.stale else operation.begin


def _end(operation: RecordedOperation) -> float:
    return inf if operation.fate is Fate.UNKNOWN else operation.end


class _Search:
    """One depth-first search, with a stack of its own: histories are longer than Python's."""

    def __init__(
        self, model: SequentialModel, entries: list[RecordedOperation], limit: int
    ) -> None:
        self.model, self.entries, self.limit = model, entries, limit
        self.needed = sum(
            1 << index for index, entry in enumerate(entries) if entry.fate is not Fate.UNKNOWN
        )
        self.begins = [_begin(entry) for entry in entries]
        self.ends = [_end(entry) for entry in entries]
        self.best: tuple[int, ...] = ()
        self.stuck: tuple[int, ...] = tuple(self._candidates(0))

    def run(self) -> Linearization:
        """Search until all that must be taken is, or nothing is left to try."""
        seen: set[tuple[int, Hashable]] = set()
        steps = 0
        stack: list[tuple[int, Hashable, _Order]] = [(0, self.model.initial, None)]
        while stack:
            taken, state, order = stack.pop()
            if self.needed & ~taken == 0:
                return self._result(True, order, steps)
            if (taken, state) in seen:
                continue
            seen.add((taken, state))
            steps += 1
            if steps > self.limit:
                return Linearization(valid=None, steps=steps)
            candidates = self._candidates(taken)
            nexts = self._nexts(taken, state, order, candidates)
            stack.extend(reversed(nexts))
            if not nexts and taken.bit_count() > len(self.best):
                self.best, self.stuck = _indexes(order), tuple(candidates)
        return Linearization(
            valid=False,
            order=tuple(self.entries[index] for index in self.best),
            stuck=tuple(self.entries[index] for index in self.stuck),
            steps=steps,
        )

    def _nexts(
        self, taken: int, state: Hashable, order: _Order, candidates: list[int]
    ) -> list[tuple[int, Hashable, _Order]]:
        """Return the ways to go on. 2. and 3. of the module's algorithm."""
        nexts: list[tuple[int, Hashable, _Order]] = []
        for index in candidates:
            entry = self.entries[index]
            for after in self.model.steps(state, entry):
                step: tuple[int, Hashable, _Order] = (taken | 1 << index, after, (index, order))
                # 2.
                if after == state and self.model.is_read(entry):
                    return [step]
                # 3.
                nexts.append(step)
        # Those with an answer first: what never came is the last explanation to try.
        nexts.sort(key=lambda step: self.ends[step[2][0]] if step[2] else inf)
        return nexts

    def _candidates(self, taken: int) -> list[int]:
        """Return those that may come next: begun before the first end of those not taken."""
        first_end = inf
        candidates: list[int] = []
        for index, begin in enumerate(self.begins):
            if begin > first_end:
                break  # in order of their begins
            if not taken >> index & 1:
                candidates.append(index)
                first_end = min(first_end, self.ends[index])
        return [index for index in candidates if self.begins[index] <= first_end]

    def _result(self, valid: bool, order: _Order, steps: int) -> Linearization:
        indexes = _indexes(order)
        return Linearization(
            valid=valid, order=tuple(self.entries[index] for index in indexes), steps=steps
        )


_Order = tuple[int, "_Order"] | None
"""A linked list of indexes, the last taken first: parts are shared between branches."""


def _indexes(order: _Order) -> tuple[int, ...]:
    indexes = []
    while order is not None:
        index, order = order
        indexes.append(index)
    return tuple(reversed(indexes))
