"""StreamsGroupMemberMetadata, a record of a coordinator's topic."""

from __future__ import annotations

from kwire.codec.declaration import CoordinatorKey, CoordinatorValue, Group
from kwire.codec.notation import array, field, int32, nullable, string, uint16


class StreamsGroupMemberMetadataKey(CoordinatorKey, key=19, versions="0"):
    """Keys a member of a streams group by group and member id (KIP-1071)."""

    group_id: str = string
    member_id: str = string


class Endpoint(Group):
    host: str = string
    port: int = uint16


class KeyValue(Group):
    key: str = string
    value: str = string


class StreamsGroupMemberMetadataValue(CoordinatorValue, key=19, versions="0", flexible="0+"):
    """Holds a Streams member's process and where it answers queries (KIP-1071)."""

    instance_id: str | None = nullable(string)
    rack_id: str | None = nullable(string)
    client_id: str = string
    client_host: str = string
    rebalance_timeout_ms: int = field(int32, default=-1)
    topology_epoch: int = int32
    process_id: str = string
    user_endpoint: Endpoint | None = field(nullable(Endpoint), default=None)
    client_tags: list[KeyValue] = array(KeyValue)
