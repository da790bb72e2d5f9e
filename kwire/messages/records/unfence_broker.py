"""UnfenceBrokerRecord, type 8 of the cluster metadata log."""

from __future__ import annotations

from kwire.codec.declaration import MetadataRecord
from kwire.codec.notation import int32, int64


class UnfenceBrokerRecord(MetadataRecord, key=8, versions="0", flexible="0+"):
    """A broker may lead partitions again, in logs of early KRaft (KIP-631)."""

    id: int = int32
    epoch: int = int64
