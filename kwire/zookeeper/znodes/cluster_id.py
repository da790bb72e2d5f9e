"""/cluster/id (kafka.zk.ClusterIdZNode)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from kwire.zookeeper.znodes.json_object import JsonObject
from kwire.zookeeper.znodes.json_text import json_bytes


@dataclass(frozen=True, slots=True)
class ClusterIdZnode:
    """The cluster's id, with which the KRaft controllers are formatted."""

    path: ClassVar[str] = "/cluster/id"

    cluster_id: str

    @classmethod
    def parse(cls, data: bytes, path: str = path) -> ClusterIdZnode:
        """Raises InvalidZnode."""
        return cls(JsonObject.parse(data, path).text("id"))

    def encode(self) -> bytes:
        """Return version 1; it is a text, as Kafka writes it."""
        return json_bytes({"version": "1", "id": self.cluster_id})
