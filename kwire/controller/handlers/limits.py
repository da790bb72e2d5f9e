"""The limits of what one request brings into the log (Java:
QuorumController.MAX_RECORDS_PER_USER_OP)."""

from __future__ import annotations

from collections.abc import Sized

from kwire.error_codes import ErrorCode
from kwire.errors import ApiError

MAX_RECORDS = 10_000
"""Records, or new partitions, of one request."""


def check_partitions(count: int) -> None:
    """Raise POLICY_VIOLATION for too many partitions, before anything is made of them."""
    if count > MAX_RECORDS:
        text = f"{count} partitions are too many for one request: {MAX_RECORDS} are allowed."
        raise ApiError(ErrorCode.POLICY_VIOLATION, text)


def check_records(records: Sized) -> None:
    """Raise POLICY_VIOLATION for too many records, as Java's BoundedList does."""
    if len(records) > MAX_RECORDS:
        text = f"The request needs more than {MAX_RECORDS} records: split it."
        raise ApiError(ErrorCode.POLICY_VIOLATION, text)
