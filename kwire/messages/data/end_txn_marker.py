"""EndTxnMarker."""

from __future__ import annotations

from kwire.codec.declaration import Data
from kwire.codec.notation import int32


class EndTxnMarker(Data, versions="0"):
    """The value of a commit or abort marker tells which coordinator epoch wrote it (KIP-98)."""

    coordinator_epoch: int = int32
