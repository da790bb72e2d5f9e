"""/brokers/topics/T/partitions/P/state (kafka.zk.TopicPartitionStateZNode)."""

from __future__ import annotations

from dataclasses import dataclass

from kwire.zookeeper.znodes.json_object import JsonObject
from kwire.zookeeper.znodes.json_text import json_bytes

RECOVERED = 0
RECOVERING = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionStateZnode:
    """A partition's leader and ISR. Its partition epoch is the version of its znode.

    leader_recovery_state: as in the metadata log, 0 recovered, 1 recovering (KIP-704).
    """

    leader: int
    leader_epoch: int
    isr: tuple[int, ...]
    controller_epoch: int
    leader_recovery_state: int = RECOVERED

    @staticmethod
    def path(topic: str, partition: int) -> str:
        """Return the path of a partition's state."""
        return f"/brokers/topics/{topic}/partitions/{partition}/state"

    @classmethod
    def parse(cls, data: bytes, path: str) -> PartitionStateZnode:
        """Raises InvalidZnode."""
        fields = JsonObject.parse(data, path)
        return cls(
            leader=fields.integer("leader"),
            leader_epoch=fields.integer("leader_epoch"),
            isr=fields.integers("isr"),
            controller_epoch=fields.integer("controller_epoch"),
            leader_recovery_state=_recovery_state(fields),
        )

    def encode(self) -> bytes:
        """Return version 1; the recovery state only if it is not recovered."""
        fields: dict[str, int | tuple[int, ...]] = {
            "version": 1,
            "leader": self.leader,
            "leader_epoch": self.leader_epoch,
            "controller_epoch": self.controller_epoch,
            "isr": self.isr,
        }
        if self.leader_recovery_state != RECOVERED:
            fields["leader_recovery_state"] = self.leader_recovery_state
        return json_bytes(fields)


def _recovery_state(fields: JsonObject) -> int:
    if "leader_recovery_state" not in fields:
        return RECOVERED
    state = fields.integer("leader_recovery_state")
    if state not in (RECOVERED, RECOVERING):
        fields.fail("leader_recovery_state", f"{state} is unknown")
    return state
