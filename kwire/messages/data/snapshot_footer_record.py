"""SnapshotFooterRecord."""

from __future__ import annotations

from kwire.codec.declaration import Data
from kwire.codec.notation import int16


class SnapshotFooterRecord(Data, versions="0", flexible="0+"):
    """A snapshot ends here, which proves it complete (KIP-630)."""

    version: int = int16
