"""GroupMetadata, a record of a coordinator's topic."""

from __future__ import annotations

from kwire.codec.declaration import CoordinatorKey, CoordinatorValue, Group
from kwire.codec.notation import array, binary, int32, int64, nullable, since, string


class GroupMetadataKey(CoordinatorKey, key=2, versions="0,2"):
    """Keys the state of a classic group by the group's id."""

    group: str = string


class MemberMetadata(Group):
    member_id: str = string
    group_instance_id: str | None = since(3, nullable(string), default=None, ignorable=True)
    client_id: str = string
    client_host: str = string
    rebalance_timeout: int = since(1, int32, default=-1, ignorable=True)
    session_timeout: int = int32
    subscription: bytes = binary
    assignment: bytes = binary


class GroupMetadataValue(CoordinatorValue, key=2, versions="0-4", flexible="4+"):
    """Holds a classic group's generation, chosen protocol, leader and members."""

    protocol_type: str = string
    generation: int = int32
    protocol: str | None = nullable(string)
    leader: str | None = nullable(string)
    current_state_timestamp: int = since(2, int64, default=-1, ignorable=True)
    members: list[MemberMetadata] = array(MemberMetadata)
