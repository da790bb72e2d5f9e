"""ShareGroupMemberMetadata, a record of a coordinator's topic."""

from __future__ import annotations

from kwire.codec.declaration import CoordinatorKey, CoordinatorValue
from kwire.codec.notation import array, nullable, string


class ShareGroupMemberMetadataKey(CoordinatorKey, key=10, versions="0,10"):
    """Keys a member of a share group by group and member id (KIP-932)."""

    group_id: str = string
    member_id: str = string


class ShareGroupMemberMetadataValue(CoordinatorValue, key=10, versions="0", flexible="0+"):
    """Holds who a share consumer is and what it subscribes to (KIP-932)."""

    rack_id: str | None = nullable(string)
    client_id: str = string
    client_host: str = string
    subscribed_topic_names: tuple[str, ...] = array(string)
