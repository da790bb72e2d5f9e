"""/brokers/topics/T (kafka.zk.TopicZNode): a topic's id, and the replicas of its partitions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar
from uuid import UUID

from kwire.errors import InvalidValue
from kwire.text.ids import parse_uuid, uuid_text
from kwire.zookeeper.znodes.json_object import JsonObject
from kwire.zookeeper.znodes.json_text import JsonValue, json_bytes


@dataclass(frozen=True, slots=True)
class AssignedReplicas:
    """The replicas of a partition; `adding` and `removing` while it is reassigned."""

    replicas: tuple[int, ...]
    adding: tuple[int, ...] = ()
    removing: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicZnode:
    """A topic. topic_id: None if no broker of 2.8 or later has written it."""

    parent: ClassVar[str] = "/brokers/topics"

    topic_id: UUID | None
    partitions: Mapping[int, AssignedReplicas]

    @staticmethod
    def path(topic: str) -> str:
        """Return the path of a topic."""
        return f"/brokers/topics/{topic}"

    @staticmethod
    def partitions_path(topic: str) -> str:
        """Return the path of the znode above the partitions, which is empty."""
        return f"/brokers/topics/{topic}/partitions"

    @staticmethod
    def partition_path(topic: str, partition: int) -> str:
        """Return the path of the znode above a partition's state, which is empty."""
        return f"/brokers/topics/{topic}/partitions/{partition}"

    @classmethod
    def parse(cls, data: bytes, path: str) -> TopicZnode:
        """Read version 1, 2 or 3. Raises InvalidZnode."""
        fields = JsonObject.parse(data, path)
        adding = fields.object_or_empty("adding_replicas")
        removing = fields.object_or_empty("removing_replicas")
        replicas = fields.object_or_empty("partitions")
        return cls(
            topic_id=_topic_id(fields) if "topic_id" in fields else None,
            partitions={
                partition_number(replicas, name): AssignedReplicas(
                    replicas.integers(name),
                    adding.integers(name) if name in adding else (),
                    removing.integers(name) if name in removing else (),
                )
                for name in replicas
            },
        )

    def encode(self) -> bytes:
        """Return version 3."""
        replicas: dict[str, tuple[int, ...]] = {}
        adding: dict[str, tuple[int, ...]] = {}
        removing: dict[str, tuple[int, ...]] = {}
        for partition, assigned in self.partitions.items():
            replicas[str(partition)] = assigned.replicas
            if assigned.adding:
                adding[str(partition)] = assigned.adding
            if assigned.removing:
                removing[str(partition)] = assigned.removing
        fields: dict[str, JsonValue] = {
            "version": 3,
            "partitions": replicas,
            "adding_replicas": adding,
            "removing_replicas": removing,
        }
        if self.topic_id is not None:
            fields["topic_id"] = uuid_text(self.topic_id)
        return json_bytes(fields)


def partition_number(fields: JsonObject, name: str) -> int:
    """Return the partition that a field's name is. Raises InvalidZnode."""
    if not (name.isascii() and name.isdecimal() and len(name) <= 10 and int(name) < 1 << 31):
        fields.fail(name, "its name is no partition")
    return int(name)


def _topic_id(fields: JsonObject) -> UUID:
    try:
        return parse_uuid(fields.text("topic_id"))
    except InvalidValue as error:
        fields.fail("topic_id", str(error))
