"""ConsumerProtocolSubscription."""

from __future__ import annotations

from kwire.codec.declaration import Data, Group
from kwire.codec.notation import array, binary, field, int32, nullable, since, string


class TopicPartition(Group):
    topic: str = since(1, string)
    partitions: tuple[int, ...] = since(1, array(int32))


class ConsumerProtocolSubscription(Data, versions="0-3"):
    """A consumer tells the group's leader what it wants to read and what it owns."""

    topics: tuple[str, ...] = array(string)
    user_data: bytes | None = field(nullable(binary), default=None)
    owned_partitions: list[TopicPartition] = since(1, array(TopicPartition), ignorable=True)
    generation_id: int = since(2, int32, default=-1, ignorable=True)
    rack_id: str | None = since(3, nullable(string), default=None, ignorable=True)
