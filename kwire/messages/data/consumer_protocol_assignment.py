"""ConsumerProtocolAssignment."""

from __future__ import annotations

from kwire.codec.declaration import Data, Group
from kwire.codec.notation import array, binary, field, int32, nullable, string


class TopicPartition(Group):
    topic: str = string
    partitions: tuple[int, ...] = array(int32)


class ConsumerProtocolAssignment(Data, versions="0-3"):
    """The group's leader tells a consumer which partitions it is to read."""

    assigned_partitions: list[TopicPartition] = array(TopicPartition)
    user_data: bytes | None = field(nullable(binary), default=None)
