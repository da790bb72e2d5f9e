"""RegisterControllerRecord, type 27 of the cluster metadata log."""

from __future__ import annotations

from uuid import UUID

from kwire.codec.declaration import Group, MetadataRecord
from kwire.codec.notation import array, boolean, int16, int32, string, uint16, uuid


class ControllerEndpoint(Group):
    name: str = string
    host: str = string
    port: int = uint16
    security_protocol: int = int16


class ControllerFeature(Group):
    name: str = string
    min_supported_version: int = int16
    max_supported_version: int = int16


class RegisterControllerRecord(MetadataRecord, key=27, versions="0", flexible="0+"):
    """A controller's endpoints, features and incarnation are recorded (KIP-919)."""

    controller_id: int = int32
    incarnation_id: UUID = uuid
    zk_migration_ready: bool = boolean
    end_points: list[ControllerEndpoint] = array(ControllerEndpoint)
    features: list[ControllerFeature] = array(ControllerFeature)
