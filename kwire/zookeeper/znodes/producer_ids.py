"""/latest_producer_id_block (kafka.zk.ProducerIdBlockZNode)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from kwire.zookeeper.znodes.json_object import JsonObject
from kwire.zookeeper.znodes.json_text import json_bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class ProducerIdsZnode:
    """The block of producer ids that was given to a broker last; `last` is the last id in it."""

    path: ClassVar[str] = "/latest_producer_id_block"

    broker_id: int
    first: int
    last: int

    @property
    def next_producer_id(self) -> int:
        """The first id of the next block."""
        return self.last + 1

    @classmethod
    def parse(cls, data: bytes, path: str = path) -> ProducerIdsZnode:
        """Raises InvalidZnode."""
        fields = JsonObject.parse(data, path)
        first, last = fields.number_as_text("block_start"), fields.number_as_text("block_end")
        if not -(1 << 31) <= last - first + 1 < 1 << 31:
            fields.fail("block_end", "the block is longer than 2147483647 ids")
        return cls(broker_id=fields.integer("broker"), first=first, last=last)

    def encode(self) -> bytes:
        """Return version 1."""
        return json_bytes(
            {
                "version": 1,
                "broker": self.broker_id,
                "block_start": str(self.first),
                "block_end": str(self.last),
            }
        )
