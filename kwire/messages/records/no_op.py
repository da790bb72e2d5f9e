"""NoOpRecord, type 20 of the cluster metadata log."""

from __future__ import annotations

from kwire.codec.declaration import MetadataRecord


class NoOpRecord(MetadataRecord, key=20, versions="0", flexible="0+"):
    """Nothing changes; the log moves on so that stalled replicas show (KIP-835)."""
