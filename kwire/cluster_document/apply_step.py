"""The steps of a plan: one key of an admin operation each, and what no operation can do."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

from kwire.admin import registry
from kwire.admin.registry import OperationRow
from kwire.cluster_document.comparison import Difference

ORDER: tuple[OperationRow, ...] = (
    registry.UPDATE_FEATURES,
    registry.CREATE_TOPICS,
    registry.CREATE_PARTITIONS,
    registry.ALTER_PARTITION_REASSIGNMENTS,
    registry.INCREMENTAL_ALTER_CONFIGS,
    registry.ALTER_CLIENT_QUOTAS,
    registry.ALTER_USER_SCRAM_CREDENTIALS,
    registry.CREATE_ACLS,
)
"""The operations in the order of a plan: features first, since they allow other keys; what
configuration is of before the configuration; users before their rights, and rights last, which may
take the principal's own away."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplyStep:
    """One key of an operation, and the differences that it ends.

    key, argument: as the operation takes them, by key. records: an estimate of the records that the
    controller writes.
    """

    operation: OperationRow
    key: Hashable
    argument: Any
    differences: tuple[Difference, ...]
    records: int = 1

    @property
    def id(self) -> tuple[str, Hashable]:
        """A name of the step that is the same in every plan."""
        return self.operation.name, self.key


@dataclass(frozen=True, slots=True, kw_only=True)
class NotApplied:
    """A difference that no step ends, and the reason."""

    difference: Difference
    reason: str


Planned = ApplyStep | NotApplied
