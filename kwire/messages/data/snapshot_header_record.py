"""SnapshotHeaderRecord."""

from __future__ import annotations

from kwire.codec.declaration import Data
from kwire.codec.notation import int16, int64


class SnapshotHeaderRecord(Data, versions="0", flexible="0+"):
    """A snapshot starts here; it covers the log up to this time (KIP-630)."""

    version: int = int16
    last_contained_log_timestamp: int = int64
