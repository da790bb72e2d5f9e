"""BrokerRegistrationChangeRecord, type 17 of the cluster metadata log."""

from __future__ import annotations

from uuid import UUID

from kwire.codec.declaration import MetadataRecord
from kwire.codec.notation import array, int8, int32, int64, nullable, tagged, uuid


class BrokerRegistrationChangeRecord(MetadataRecord, key=17, versions="0-3", flexible="0+"):
    """A registered broker's fencing, shutdown state or disks change (KIP-746)."""

    broker_id: int = int32
    broker_epoch: int = int64
    fenced: int = tagged(0, int8)
    in_controlled_shutdown: int = tagged(1, int8, "1+")
    log_dirs: tuple[UUID, ...] = tagged(2, array(uuid), "2+")
    cordoned_log_dirs: tuple[UUID, ...] | None = tagged(
        3, nullable(array(uuid)), "3+", default=None
    )
