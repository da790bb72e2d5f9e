"""EndTransactionRecord, type 24 of the cluster metadata log."""

from __future__ import annotations

from kwire.codec.declaration import MetadataRecord


class EndTransactionRecord(MetadataRecord, key=24, versions="0", flexible="0+"):
    """The records since the transaction began take effect (KIP-868)."""
