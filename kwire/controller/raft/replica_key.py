"""The key of a replica: its node id and, since KIP-853 ("Replica directory ID"), the id of the
directory that its log lies in."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from kwire.text.ids import ZERO_UUID, uuid_text


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaKey:
    """A replica. `directory_id` is None for a static voter whose directory is not known yet."""

    id: int
    directory_id: UUID | None = None

    @classmethod
    def from_wire(cls, id: int, directory_id: UUID) -> ReplicaKey:
        """Read a key from a message, in which the zero UUID stands for no directory id."""
        return cls(id=id, directory_id=None if directory_id == ZERO_UUID else directory_id)

    @property
    def wire_directory_id(self) -> UUID:
        """The directory id as a message has it: the zero UUID for none."""
        return self.directory_id or ZERO_UUID

    def covers(self, other: ReplicaKey) -> bool:
        """Return True if `other` is this replica; without a directory id, any of this id is."""
        return self.id == other.id and self.directory_id in (None, other.directory_id)

    def __str__(self) -> str:
        return f"{self.id}-{uuid_text(self.directory_id)}" if self.directory_id else str(self.id)
