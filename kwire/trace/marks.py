"""Marks on the time axis of a trace: turns in the life of a quorum, of partitions, of groups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kwire.messages.a63_broker_heartbeat import BrokerHeartbeatRequest, BrokerHeartbeatResponse
from kwire.messages.registry import api_keys
from kwire.proxy.flows.decoded import DecodedFlow
from kwire.proxy.flows.flow import Flow, Notice, NoticeKind

ELECTION, VOTERS, ISR, ASSIGNMENT, NODES, LOSS, CHANGE = (
    *("election", "voters", "isr", "assignment", "nodes", "loss", "change"),
)

KINDS: Mapping[str, tuple[str, str]] = {
    ELECTION: ("▲", "elections"),
    VOTERS: ("◆", "voters"),
    ISR: ("■", "ISR"),
    ASSIGNMENT: ("●", "assignments"),
    NODES: ("★", "nodes"),
    LOSS: ("✕", "lost, refused"),
    CHANGE: ("▮", "metadata"),
}
"""The kinds of marks in the order of their rows, each with its sign and its name there."""

BROKERS = 10_000
"""Brokers whose state is remembered: ids are a peer's word."""

_PLAIN = (NoticeKind.OPENED, NoticeKind.CLOSED)


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceMark:
    """Something at a moment. at: Unix seconds. flow: the flow that shows it, or caused it."""

    at: float
    kind: str
    text: str = ""
    flow: Flow | None = None


class MarkFinder:
    """Finds the flows that are marks; of heartbeats, those that change what a broker is."""

    def __init__(self) -> None:
        self._brokers: dict[int, tuple[bool, bool]] = {}

    def kind(self, decoded: DecodedFlow) -> str | None:
        """Return the kind of mark that a flow is, None for most."""
        inner = decoded.envelope or decoded
        kind = _KINDS.get(inner.flow.key)
        if inner.flow.key in _WITH_ASSIGNMENT:
            body: Any = inner.response.body if inner.response else None
            return kind if getattr(body, "assignment", None) else None
        if (asked := inner.request_as(BrokerHeartbeatRequest)) is not None:
            return kind if self._is_turn(asked, inner) else None
        return kind

    def _is_turn(self, asked: BrokerHeartbeatRequest, decoded: DecodedFlow) -> bool:
        told = decoded.response_as(BrokerHeartbeatResponse)
        if told is None or told.error_code:
            return False
        state = (told.is_fenced, asked.want_shut_down)
        before = self._brokers.get(asked.broker_id)
        if len(self._brokers) < BROKERS or before is not None:
            self._brokers[asked.broker_id] = state
        return state != before


def notice_mark(notice: Notice) -> TraceMark | None:
    """Return a mark for a notice of something lost or refused."""
    if notice.kind in _PLAIN:
        return None
    return TraceMark(at=notice.at, kind=LOSS, text=f"{notice.kind.value}: {notice.text}")


_WITH_ASSIGNMENT = api_keys("SyncGroup", "ConsumerGroupHeartbeat", "ShareGroupHeartbeat")
"""APIs whose answers carry an assignment when it is new."""

_KINDS: Mapping[int, str] = {
    key: kind
    for names, kind in (
        ("Vote BeginQuorumEpoch EndQuorumEpoch", ELECTION),
        ("AddRaftVoter RemoveRaftVoter UpdateRaftVoter", VOTERS),
        ("AlterPartition", ISR),
        ("AlterPartitionReassignments AssignReplicasToDirs ElectLeaders", ASSIGNMENT),
        ("SyncGroup ConsumerGroupHeartbeat ShareGroupHeartbeat", ASSIGNMENT),
        ("BrokerRegistration ControllerRegistration UnregisterBroker ControlledShutdown", NODES),
        ("BrokerHeartbeat", NODES),
    )
    for key in api_keys(*names.split())
}
