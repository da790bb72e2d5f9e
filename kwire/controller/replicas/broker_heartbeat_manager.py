"""The sessions of brokers: the soft state of the active controller (Java:
BrokerHeartbeatManager).

It is in no log: a new leader begins with a full session for every broker. Times are milliseconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from enum import Enum

from rpds import HashTrieMap

from kwire.image.cluster import ClusterImage
from kwire.messages.a63_broker_heartbeat import BrokerHeartbeatRequest

NO_OFFSET = -1


class BrokerControlState(Enum):
    """The state of a broker, or the next one (Java: BrokerControlState)."""

    FENCED = "fenced"
    UNFENCED = "unfenced"
    CONTROLLED_SHUTDOWN = "in controlled shutdown"
    SHUTDOWN_NOW = "shut down"

    @property
    def fenced(self) -> bool:
        """True if brokers in this state are fenced."""
        return self in (BrokerControlState.FENCED, BrokerControlState.SHUTDOWN_NOW)


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerHeartbeatState:
    """One broker's session.

    metadata_offset: of the last metadata record that it has applied.
    shutdown_offset: the metadata offset that the other brokers must reach before it may stop;
    NO_OFFSET unless it is in controlled shutdown.
    """

    last_contact: int
    fenced: bool = True
    metadata_offset: int = NO_OFFSET
    shutdown_offset: int = NO_OFFSET

    @property
    def shutting_down(self) -> bool:
        """True if the broker is in controlled shutdown."""
        return self.shutdown_offset != NO_OFFSET

    @property
    def state(self) -> BrokerControlState:
        """The present state."""
        if self.shutting_down:
            return BrokerControlState.CONTROLLED_SHUTDOWN
        return BrokerControlState.FENCED if self.fenced else BrokerControlState.UNFENCED


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerHeartbeatManager:
    """The sessions of all registered brokers, by id.

    It never changes: every method returns the manager afterwards, so that an operation which is
    given up has changed nothing.
    """

    session_timeout_ms: int = 9000
    brokers: HashTrieMap[int, BrokerHeartbeatState] = field(default_factory=HashTrieMap)

    def activated(self, cluster: ClusterImage, now: int) -> BrokerHeartbeatManager:
        """Return the manager of a new leader: a full session for every broker.

        Heartbeats are in no log: a new leader cannot know when the last ones came.
        """
        brokers = {
            broker.id: BrokerHeartbeatState(last_contact=now, fenced=broker.fenced)
            for broker in cluster.brokers.values()
        }
        return replace(self, brokers=HashTrieMap(brokers))

    def has_valid_session(self, id: int, now: int) -> bool:
        """Return True if the broker is unfenced and had contact within the session timeout."""
        broker = self.brokers.get(id)
        return (
            broker is not None
            and not broker.fenced
            and broker.last_contact + self.session_timeout_ms >= now
        )

    def registered(self, id: int, *, fenced: bool, anew: bool, now: int) -> BrokerHeartbeatManager:
        """Take over a registration from a record.

        anew: it is another registration, which begins without offsets. The metadata offset is
        forgotten when the broker is fenced or unfenced.
        """
        state = self.brokers.get(id)
        if state is None or anew:
            state = BrokerHeartbeatState(last_contact=now)
        offset = state.metadata_offset if state.fenced != fenced else NO_OFFSET
        return self._with(id, state).touched(id, fenced=fenced, metadata_offset=offset, now=now)

    def touched(
        self, id: int, *, fenced: bool, metadata_offset: int, now: int
    ) -> BrokerHeartbeatManager:
        """Begin a broker's session anew. A fenced broker is no longer in controlled shutdown."""
        changed = replace(
            self.brokers[id],
            last_contact=now,
            fenced=fenced,
            metadata_offset=metadata_offset,
            shutdown_offset=NO_OFFSET if fenced else self.brokers[id].shutdown_offset,
        )
        return self._with(id, changed)

    def record_contact(self, id: int, now: int) -> BrokerHeartbeatManager:
        """Begin the session of a broker anew, if it is known; nothing else of it changes."""
        broker = self.brokers.get(id)
        if broker is None or broker.last_contact >= now:
            return self
        return self._with(id, replace(broker, last_contact=now))

    def fenced(self, id: int) -> BrokerHeartbeatManager:
        """Note that a broker is fenced."""
        return self._with(id, replace(self.brokers[id], fenced=True))

    def removed(self, id: int) -> BrokerHeartbeatManager:
        """Forget a broker that is no longer registered."""
        if id not in self.brokers:
            return self
        return replace(self, brokers=self.brokers.remove(id))

    def shutting_down(self, id: int, offset: int) -> BrokerHeartbeatManager:
        """Note that a broker is in controlled shutdown; of several offsets the first counts."""
        broker = self.brokers[id]
        if broker.shutting_down:
            return self
        return self._with(id, replace(broker, shutdown_offset=offset))

    @property
    def lowest_active_offset(self) -> int | None:
        """The metadata offset that all active brokers have reached; None without active brokers."""
        offsets = [broker.metadata_offset for _, broker in self._unfenced(shutting_down=False)]
        return min(offsets, default=None)

    def stale_broker(self, now: int) -> int | None:
        """Return the unfenced broker with the oldest contact, if its session is over."""
        silent = min(((broker.last_contact, id) for id, broker in self._unfenced()), default=None)
        if silent is None or silent[0] + self.session_timeout_ms >= now:
            return None
        return silent[1]

    @property
    def deadline(self) -> int | None:
        """The time at which the first session ends; None without unfenced brokers."""
        contacts = [broker.last_contact for _, broker in self._unfenced()]
        # One more: in the last millisecond of its timeout a session is still valid.
        return min(contacts) + self.session_timeout_ms + 1 if contacts else None

    def usable_brokers(self) -> Iterator[tuple[int, bool]]:
        """Yield the brokers that may get new replicas, by id, each with True if it is fenced."""
        for id in sorted(self.brokers):
            if not self.brokers[id].shutting_down:
                yield id, self.brokers[id].fenced

    def next_state(
        self,
        request: BrokerHeartbeatRequest,
        *,
        registration_offset: int,
        leads: Callable[[], bool],
    ) -> BrokerControlState:
        """Return the broker's state after this heartbeat (calculateNextBrokerState).

        registration_offset: of its registration's record. leads: returns True if the broker leads
        partitions; it is called only if that matters, since it looks at all partitions.

        1. Fenced: if it wants to stop, it may at once; if it wants to be unfenced and has caught up
           with its own registration, it is; else it stays fenced.
        2. Unfenced: if it wants to be fenced, it is, and may stop if it wants that, too; if it
           wants to stop, it is in controlled shutdown while it leads, else it may stop at once.
        3. In controlled shutdown: it may stop once it leads nothing and every active broker has the
           records that say so.
        """
        broker = self.brokers[request.broker_id]
        # 3.
        if broker.shutting_down:
            return self._next_state_when_stopping(broker, leads)
        # 1.
        if broker.fenced:
            if request.want_shut_down:
                return BrokerControlState.SHUTDOWN_NOW
            caught_up = request.current_metadata_offset >= registration_offset
            unfence = not request.want_fence and caught_up
            return BrokerControlState.UNFENCED if unfence else BrokerControlState.FENCED
        # 2.
        return _next_state_when_unfenced(request, leads)

    def _next_state_when_stopping(
        self, broker: BrokerHeartbeatState, leads: Callable[[], bool]
    ) -> BrokerControlState:
        lowest = self.lowest_active_offset
        if leads() or (lowest is not None and broker.shutdown_offset > lowest):
            return BrokerControlState.CONTROLLED_SHUTDOWN
        return BrokerControlState.SHUTDOWN_NOW

    def _unfenced(
        self, *, shutting_down: bool | None = None
    ) -> Iterator[tuple[int, BrokerHeartbeatState]]:
        for id, broker in self.brokers.items():
            if not broker.fenced and shutting_down in (None, broker.shutting_down):
                yield id, broker

    def _with(self, id: int, broker: BrokerHeartbeatState) -> BrokerHeartbeatManager:
        return replace(self, brokers=self.brokers.insert(id, broker))


def _next_state_when_unfenced(
    request: BrokerHeartbeatRequest, leads: Callable[[], bool]
) -> BrokerControlState:
    if request.want_fence:
        stop = request.want_shut_down
        return BrokerControlState.SHUTDOWN_NOW if stop else BrokerControlState.FENCED
    if request.want_shut_down:
        return (
            BrokerControlState.CONTROLLED_SHUTDOWN if leads() else BrokerControlState.SHUTDOWN_NOW
        )
    return BrokerControlState.UNFENCED
