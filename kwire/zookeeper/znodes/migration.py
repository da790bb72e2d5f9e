"""/migration (kafka.zk.MigrationZNode): how far the KRaft controller's log is in ZooKeeper."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from kwire.zookeeper.znodes.json_object import JsonObject
from kwire.zookeeper.znodes.json_text import json_bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class MigrationZnode:
    """The last writer, and the last offset of its log that is in ZooKeeper; -1 before the copy."""

    path: ClassVar[str] = "/migration"

    kraft_controller_id: int = -1
    kraft_controller_epoch: int = -1
    kraft_metadata_offset: int = -1
    kraft_metadata_epoch: int = -1

    @property
    def is_copied(self) -> bool:
        """True once the copy is complete (initialZkMigrationComplete)."""
        return self.kraft_metadata_offset > 0

    @classmethod
    def parse(cls, data: bytes, path: str = path) -> MigrationZnode:
        """Raises InvalidZnode, also for a version that 3.9 does not know."""
        fields = JsonObject.parse(data, path)
        version = fields.integer("version")
        if version != 0:
            fields.fail("version", f"{version} is unknown: Kafka 3.9 writes and reads version 0")
        return cls(
            kraft_controller_id=fields.integer("kraft_controller_id"),
            kraft_controller_epoch=fields.integer("kraft_controller_epoch"),
            kraft_metadata_offset=fields.integer("kraft_metadata_offset", bits=64),
            kraft_metadata_epoch=fields.integer("kraft_metadata_epoch"),
        )

    def encode(self) -> bytes:
        """Return version 0."""
        return json_bytes(
            {
                "version": 0,
                "kraft_controller_id": self.kraft_controller_id,
                "kraft_controller_epoch": self.kraft_controller_epoch,
                "kraft_metadata_offset": self.kraft_metadata_offset,
                "kraft_metadata_epoch": self.kraft_metadata_epoch,
            }
        )
