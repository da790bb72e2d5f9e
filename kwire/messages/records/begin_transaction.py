"""BeginTransactionRecord, type 23 of the cluster metadata log."""

from __future__ import annotations

from kwire.codec.declaration import MetadataRecord
from kwire.codec.notation import nullable, string, tagged


class BeginTransactionRecord(MetadataRecord, key=23, versions="0", flexible="0+"):
    """The records from here on take effect together or not at all (KIP-868)."""

    name: str | None = tagged(0, nullable(string), default=None)
