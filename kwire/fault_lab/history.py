"""The history of a run: every operation of the workload, when it was asked and what came of it.

As JSON lines it can be checked again without the cluster.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from enum import Enum
from math import inf
from typing import Any


class Fate(Enum):
    """The knowledge of an operation after its answer, or without one.

    OK: it was acknowledged. REFUSED: it was refused for a reason that lies in the state, such as a
    topic that exists. NOT_DONE: it cannot have had an effect. UNKNOWN: no answer, or one that
    leaves open whether it took effect, at any later time.
    """

    OK = "ok"
    REFUSED = "refused"
    NOT_DONE = "not done"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedOperation:
    """One operation on one key.

    kind: `create`, `delete`, … as the key's model knows it. value: what was asked; result: what was
    answered, or the error's name. begin, end: seconds after the begin of the run; end is infinite
    where nothing came. node: where it was asked. stale: the answer may be of an earlier moment,
    as Kafka's reads of metadata are.
    """

    key: str
    kind: str
    fate: Fate
    begin: float
    end: float = inf
    value: Any = None
    result: Any = None
    client: int = 0
    node: int | None = None
    stale: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return it as a JSON object; an end that never came is null."""
        fields = asdict(self)
        fields["fate"] = self.fate.value
        fields["end"] = None if self.end == inf else self.end
        if not self.stale:
            del fields["stale"]
        return {name: value for name, value in fields.items() if value is not None}

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> RecordedOperation:
        """Return the operation of a JSON object."""
        end = fields.get("end")
        return cls(**{**fields, "fate": Fate(fields["fate"]), "end": inf if end is None else end})


class RunHistory:
    """Operations in the order in which they ended."""

    def __init__(self, operations: Iterable[RecordedOperation] = ()) -> None:
        self.operations = list(operations)

    def add(self, operation: RecordedOperation) -> None:
        """Note an operation that is over, or that nobody waits for any more."""
        self.operations.append(operation)

    def by_key(self) -> dict[str, list[RecordedOperation]]:
        """Return the operations of each key, in the order in which they began."""
        keys: defaultdict[str, list[RecordedOperation]] = defaultdict(list)
        for operation in sorted(self.operations, key=lambda operation: operation.begin):
            keys[operation.key].append(operation)
        return dict(keys)

    def counts(self) -> dict[str, dict[str, int]]:
        """Return how many operations of each kind had each fate; the kind is `topic create`."""
        table: defaultdict[str, dict[str, int]] = defaultdict(dict)
        for operation in self.operations:
            row = table[f"{operation.key.partition(':')[0]} {operation.kind}"]
            row[operation.fate.value] = row.get(operation.fate.value, 0) + 1
        return dict(sorted(table.items()))

    def lines(self) -> Iterator[str]:
        """Yield a line of JSON for each operation."""
        for operation in self.operations:
            yield json.dumps(operation.to_json(), separators=(",", ":"))

    @classmethod
    def from_lines(cls, lines: Iterable[str]) -> RunHistory:
        """Read the lines of `lines`."""
        return cls(RecordedOperation.from_json(json.loads(line)) for line in lines if line.strip())
