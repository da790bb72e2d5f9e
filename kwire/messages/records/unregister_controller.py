"""UnregisterControllerRecord, type 29 of the cluster metadata log."""

from __future__ import annotations

from kwire.codec.declaration import MetadataRecord
from kwire.codec.notation import int32


class UnregisterControllerRecord(MetadataRecord, key=29, versions="0", flexible="0+"):
    """A controller's registration leaves the cluster's metadata (KIP-1312)."""

    controller_id: int = int32
