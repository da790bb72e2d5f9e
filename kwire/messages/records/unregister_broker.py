"""UnregisterBrokerRecord, type 1 of the cluster metadata log."""

from __future__ import annotations

from kwire.codec.declaration import MetadataRecord
from kwire.codec.notation import int32, int64


class UnregisterBrokerRecord(MetadataRecord, key=1, versions="0", flexible="0+"):
    """A broker's registration leaves the cluster's metadata (KIP-631)."""

    broker_id: int = int32
    broker_epoch: int = int64
