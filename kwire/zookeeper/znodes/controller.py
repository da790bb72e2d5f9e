"""/controller and /controller_epoch (kafka.zk.ControllerZNode, ControllerEpochZNode)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from kwire.zookeeper.errors import InvalidZnode
from kwire.zookeeper.znodes.json_object import JsonObject
from kwire.zookeeper.znodes.json_text import json_bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerZnode:
    """The active controller; ephemeral if it is a broker in ZooKeeper mode.

    kraft_epoch: the raft epoch of a KRaft controller; -1 or None for a broker, the latter before
    3.4. timestamp_ms: None if the znode has none that is a number.
    """

    path: ClassVar[str] = "/controller"

    broker_id: int
    timestamp_ms: int | None = None
    kraft_epoch: int | None = -1

    @property
    def is_kraft(self) -> bool:
        """True for a KRaft controller."""
        return self.kraft_epoch is not None and self.kraft_epoch >= 0

    @classmethod
    def parse(cls, data: bytes, path: str = path) -> ControllerZnode:
        """Raises InvalidZnode."""
        fields = JsonObject.parse(data, path)
        return cls(
            broker_id=fields.integer("brokerid"),
            timestamp_ms=_timestamp(fields),
            kraft_epoch=fields.integer("kraftControllerEpoch")
            if "kraftControllerEpoch" in fields
            else None,
        )

    def encode(self) -> bytes:
        """Return version 2."""
        return json_bytes(
            {
                "version": 2,
                "brokerid": self.broker_id,
                "timestamp": str(self.timestamp_ms or 0),
                "kraftControllerEpoch": -1 if self.kraft_epoch is None else self.kraft_epoch,
            }
        )


def _timestamp(fields: JsonObject) -> int | None:
    # Kafka does not read it, so nothing about it is an error.
    try:
        return fields.number_as_text("timestamp")
    except InvalidZnode:
        return None


@dataclass(frozen=True, slots=True)
class ControllerEpochZnode:
    """The number of times that a controller was elected. Its znode's version fences controllers."""

    path: ClassVar[str] = "/controller_epoch"

    epoch: int

    @classmethod
    def parse(cls, data: bytes, path: str = path) -> ControllerEpochZnode:
        """Raises InvalidZnode."""
        digits = data.removeprefix(b"-")
        if not (digits.isdigit() and len(digits) <= 10 and -(1 << 31) <= int(data) < 1 << 31):
            raise InvalidZnode(path, "expected a whole number of 32 bits")
        return cls(int(data))

    def encode(self) -> bytes:
        """Return decimal digits."""
        return b"%d" % self.epoch
