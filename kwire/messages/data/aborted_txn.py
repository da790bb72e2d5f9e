"""AbortedTxn."""

from __future__ import annotations

from kwire.codec.declaration import Data
from kwire.codec.notation import int64


class AbortedTxn(Data, versions="0"):
    """A transaction index remembers where an aborted transaction begins and ends (KIP-98)."""

    producer_id: int = int64
    first_offset: int = int64
    last_offset: int = int64
    last_stable_offset: int = int64
