"""ControllerRegistration, API key 70."""

from __future__ import annotations

from uuid import UUID

from kwire.codec.declaration import Group, Request, Response
from kwire.codec.notation import array, boolean, int16, int32, nullable, string, uint16, uuid


class Listener(Group):
    name: str = string
    host: str = string
    port: int = uint16
    security_protocol: int = int16


class Feature(Group):
    name: str = string
    min_supported_version: int = int16
    max_supported_version: int = int16


class ControllerRegistrationRequest(
    Request, key=70, versions="0", flexible="0+", listeners="controller"
):
    """A starting controller tells the active one its endpoints and features (KIP-919)."""

    controller_id: int = int32
    incarnation_id: UUID = uuid
    zk_migration_ready: bool = boolean
    listeners: list[Listener] = array(Listener)
    features: list[Feature] = array(Feature)


class ControllerRegistrationResponse(Response, key=70, versions="0", flexible="0+"):
    """The active controller says whether it has recorded the registration (KIP-919)."""

    throttle_time_ms: int = int32
    error_code: int = int16
    error_message: str | None = nullable(string)
