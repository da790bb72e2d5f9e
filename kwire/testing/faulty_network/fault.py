"""Faults of the links between nodes: their kinds, and one fault with its time and nodes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class FaultKind(Enum):
    """Something that happens to links between nodes.

    DELAY: every message takes longer. REORDER: messages of one connection keep their order, those
    of different connections overtake each other. DROP: connections fall silent, and are closed at
    the end. RESET: connections are closed, before a request passes or before its answer does.
    PARTITION: the chosen nodes and the others do not hear each other. ONE_WAY: what the chosen
    nodes ask the others does not arrive. BRIDGE: one node hears all, the others only that one.
    CLIENTS: clients do not reach the chosen nodes.
    """

    DELAY = "delay"
    REORDER = "reorder"
    DROP = "drop"
    RESET = "reset"
    PARTITION = "partition"
    ONE_WAY = "one-way"
    BRIDGE = "bridge"
    CLIENTS = "clients"


ALL_KINDS = tuple(FaultKind)
LEADER = -1
"""Stands in a schedule for the controller that leads when the fault begins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultEvent:
    """One fault. at: seconds after the begin; lasts: seconds.

    nodes: the ids that are chosen, LEADER for the leader of that moment. amount: seconds of delay,
    or the share of requests that are hit; 0 where the kind has none. others: the other side of a
    partition; empty for all other nodes.
    """

    at: float
    lasts: float
    kind: FaultKind
    nodes: tuple[int, ...]
    amount: float = 0.0
    others: tuple[int, ...] = ()

    def __str__(self) -> str:
        nodes = ",".join("leader" if node == LEADER else str(node) for node in self.nodes)
        amount = f" {self.amount:g}" if self.amount else ""
        return f"{self.at:.1f}s +{self.lasts:.1f}s {self.kind.value}{amount} {nodes}"
