"""Whether the voter set may change now: one change at a time, and only after this epoch's first
record is committed (KIP-853; Ongaro's bug in single-server membership changes)."""

from __future__ import annotations

from kwire.controller.raft.replica import Replica
from kwire.controller.raft.roles import Leader
from kwire.error_codes import ErrorCode


def not_ready_for_change(replica: Replica, leader: Leader) -> tuple[ErrorCode, str] | None:
    """The error and its text.

    1. Another addition or removal is pending: REQUEST_TIMED_OUT.
    2. No record of this epoch is committed: REQUEST_TIMED_OUT.
    3. kraft.version is 0: UNSUPPORTED_VERSION.
    4. The latest VotersRecord is not committed: REQUEST_TIMED_OUT.
    """
    timed_out = ErrorCode.REQUEST_TIMED_OUT
    if leader.change is not None:
        return timed_out, "Another voter change is not finished yet: nothing was appended."
    if leader.high_watermark is None:
        return timed_out, "The leader has committed nothing in its epoch yet: nothing was appended."
    if not replica.history.kraft_version:
        return ErrorCode.UNSUPPORTED_VERSION, "The finalised kraft.version is 0: voters are static."
    if not are_voters_committed(replica, leader.high_watermark):
        return timed_out, "The latest voter set is not committed yet: nothing was appended."
    return None


def are_voters_committed(replica: Replica, high_watermark: int) -> bool:
    """Whether the voters in force are below the high watermark."""
    entry = replica.history.voters_entry
    return entry is not None and entry.offset < high_watermark
