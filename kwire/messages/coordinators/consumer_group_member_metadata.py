"""ConsumerGroupMemberMetadata, a record of a coordinator's topic."""

from __future__ import annotations

from kwire.codec.declaration import CoordinatorKey, CoordinatorValue, Group
from kwire.codec.notation import array, binary, field, int32, nullable, string, tagged


class ConsumerGroupMemberMetadataKey(CoordinatorKey, key=5, versions="0,5"):
    """Keys a member of a consumer group by group and member id (KIP-848)."""

    group_id: str = string
    member_id: str = string


class ClassicProtocol(Group):
    name: str = string
    metadata: bytes = binary


class ClassicMemberMetadata(Group):
    session_timeout_ms: int = int32
    supported_protocols: list[ClassicProtocol] = array(ClassicProtocol)


class ConsumerGroupMemberMetadataValue(CoordinatorValue, key=5, versions="0", flexible="0+"):
    """Holds who a consumer is and what it subscribes to (KIP-848)."""

    instance_id: str | None = nullable(string)
    rack_id: str | None = nullable(string)
    client_id: str = string
    client_host: str = string
    subscribed_topic_names: tuple[str, ...] = array(string)
    subscribed_topic_regex: str | None = nullable(string)
    rebalance_timeout_ms: int = field(int32, default=-1)
    server_assignor: str | None = nullable(string)
    classic_member_metadata: ClassicMemberMetadata | None = tagged(
        0, nullable(ClassicMemberMetadata)
    )
