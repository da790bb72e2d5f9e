"""ProducerIdsRecord, type 15 of the cluster metadata log."""

from __future__ import annotations

from kwire.codec.declaration import MetadataRecord
from kwire.codec.notation import field, int32, int64


class ProducerIdsRecord(MetadataRecord, key=15, versions="0", flexible="0+"):
    """A block of producer ids is given away, and the next one starts here (KIP-730)."""

    broker_id: int = int32
    broker_epoch: int = field(int64, default=-1)
    next_producer_id: int = int64
