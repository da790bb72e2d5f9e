"""BrokerRegistration, API key 62."""

from __future__ import annotations

from uuid import UUID

from kwire.codec.declaration import Group, Request, Response
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
    uint16,
    uuid,
)


class Listener(Group):
    name: str = string
    host: str = string
    port: int = uint16
    security_protocol: int = int16


class Feature(Group):
    name: str = string
    min_supported_version: int = int16
    max_supported_version: int = int16


class BrokerRegistrationRequest(
    Request, key=62, versions="0-4", flexible="0+", listeners="controller"
):
    """A starting broker enrols with the controller: listeners, features, rack (KIP-631)."""

    broker_id: int = int32
    cluster_id: str = string
    incarnation_id: UUID = uuid
    listeners: list[Listener] = array(Listener)
    features: list[Feature] = array(Feature)
    rack: str | None = nullable(string)
    is_migrating_zk_broker: bool = since(1, boolean)
    log_dirs: tuple[UUID, ...] = since(2, array(uuid), ignorable=True)
    previous_broker_epoch: int = since(3, int64, default=-1, ignorable=True)


class BrokerRegistrationResponse(Response, key=62, versions="0-4", flexible="0+"):
    """The controller grants a broker the epoch of its new registration (KIP-631)."""

    throttle_time_ms: int = int32
    error_code: int = int16
    broker_epoch: int = field(int64, default=-1)
