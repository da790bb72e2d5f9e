"""A name that several clients work on, and when another one takes its place."""

from __future__ import annotations

from dataclasses import dataclass

from kwire.fault_lab.history import Fate, RecordedOperation
from kwire.fault_lab.session import WorkloadRun

UNKNOWN_LIMIT = 5
"""Operations of unknown outcome on one key, after which another key is taken: each doubles what a
history may mean."""

OPERATION_LIMIT = 60
"""Operations on one key."""


@dataclass(slots=True, eq=False)
class SharedName:
    """The name of a topic, a resource or a group; replaced when its history is long enough.

    kind: the first part of its key in the history. letter: what such names begin with, behind the
    run's prefix.
    """

    run: WorkloadRun
    kind: str
    letter: str
    name: str = ""
    operations: int = 0
    unknown: int = 0

    @property
    def key(self) -> str:
        """The key of its operations in the history."""
        return f"{self.kind}:{self.name}"

    def renew_if_due(self) -> None:
        """Take a new name if there is none yet, or if enough was done under this one."""
        if not self.name or self.unknown >= UNKNOWN_LIMIT or self.operations >= OPERATION_LIMIT:
            self.name = f"{self.run.prefix}-{self.letter}{self.run.unique()}"
            self.operations = self.unknown = 0

    def note(self, operation: RecordedOperation) -> None:
        """Count an operation; one of an earlier name counts no more."""
        if operation.key == self.key:
            self.operations += 1
            self.unknown += operation.fate is Fate.UNKNOWN
