"""RegisterBrokerRecord, type 0 of the cluster metadata log."""

from __future__ import annotations

from uuid import UUID

from kwire.codec.declaration import Group, MetadataRecord
from kwire.codec.notation import (
    array,
    boolean,
    field,
    int16,
    int32,
    int64,
    nullable,
    since,
    string,
    tagged,
    uint16,
    uuid,
)


class BrokerEndpoint(Group):
    name: str = string
    host: str = string
    port: int = uint16
    security_protocol: int = int16


class BrokerFeature(Group):
    name: str = string
    min_supported_version: int = int16
    max_supported_version: int = int16


class RegisterBrokerRecord(MetadataRecord, key=0, versions="0-4", flexible="0+"):
    """A broker enters the cluster under a new broker epoch (KIP-631)."""

    broker_id: int = int32
    is_migrating_zk_broker: bool = since(2, boolean)
    incarnation_id: UUID = uuid
    broker_epoch: int = int64
    end_points: list[BrokerEndpoint] = array(BrokerEndpoint)
    features: list[BrokerFeature] = array(BrokerFeature)
    rack: str | None = nullable(string)
    fenced: bool = field(boolean, default=True)
    in_controlled_shutdown: bool = since(1, boolean)
    log_dirs: tuple[UUID, ...] = tagged(0, array(uuid), "3+")
    cordoned_log_dirs: tuple[UUID, ...] | None = tagged(
        1, nullable(array(uuid)), "4+", default=None
    )
