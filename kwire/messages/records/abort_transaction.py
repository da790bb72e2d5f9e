"""AbortTransactionRecord, type 25 of the cluster metadata log."""

from __future__ import annotations

from kwire.codec.declaration import MetadataRecord
from kwire.codec.notation import nullable, string, tagged


class AbortTransactionRecord(MetadataRecord, key=25, versions="0", flexible="0+"):
    """The records since the transaction began are void (KIP-868)."""

    reason: str | None = tagged(0, nullable(string), default=None)
