"""The choices that operations on partitions leave to the caller."""

from __future__ import annotations

from enum import IntEnum


class IsolationLevel(IntEnum):
    """The records that count for an end: all, or those whose transaction is not open."""

    READ_UNCOMMITTED = 0
    READ_COMMITTED = 1


class ElectionType(IntEnum):
    """The kinds of elections (KIP-460).

    PREFERRED: the first replica leads, if it is in sync. UNCLEAN: any live replica leads, if none
    in sync does; the records that it has not copied are lost.
    """

    PREFERRED = 0
    UNCLEAN = 1
