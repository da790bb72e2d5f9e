"""An event that a correct cluster never shows, with the operations that show it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kwire.fault_lab.history import RecordedOperation


@dataclass(frozen=True, slots=True, kw_only=True)
class Anomaly:
    """rule: the sentence that is broken. about: the key, partition or offset. came: what was seen.

    operations: the part of the history that shows it. name: of the kind, for expectations.
    """

    rule: str
    about: str
    came: str
    operations: tuple[RecordedOperation, ...] = ()
    name: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        return {
            "name": self.name,
            "rule": self.rule,
            "about": self.about,
            "came": self.came,
            "operations": [operation.to_json() for operation in self.operations],
        }
