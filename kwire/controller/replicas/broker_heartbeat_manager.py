"""Who is alive: the soft state of the active controller (Java: BrokerHeartbeatManager).

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
    """What a broker is, or is to be."""

    FENCED = "fenced"
    UNFENCED = "unfenced"
    CONTROLLED_SHUTDOWN = "in controlled shutdown"
    SHUTDOWN_NOW = "shut down"

    @property
    def fenced(self) -> bool:
        """Whether brokers in it are fenced."""
        return self in (BrokerControlState.FENCED, BrokerControlState.SHUTDOWN_NOW)


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerHeartbeatState:
    """One broker's session.

    metadata_offset: up to which it has the metadata. shutdown_offset: what the other brokers must
    have before it may stop; NO_OFFSET unless it is in controlled shutdown.
    """

    last_contact: int
    fenced: bool = True
    metadata_offset: int = NO_OFFSET
    shutdown_offset: int = NO_OFFSET

    @property
    def shutting_down(self) -> bool:
        """Whether it is in controlled shutdown."""
        return self.shutdown_offset != NO_OFFSET

    @property
    def state(self) -> BrokerControlState:
        """What it is now."""
        if self.shutting_down:
            return BrokerControlState.CONTROLLED_SHUTDOWN
        return BrokerControlState.FENCED if self.fenced else BrokerControlState.UNFENCED


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerHeartbeatManager:
    """The sessions of every registered broker, by id."""

    session_timeout_ms: int = 9000
    brokers: HashTrieMap[int, BrokerHeartbeatState] = field(default_factory=HashTrieMap)

    def activated(self, cluster: ClusterImage, now: int) -> BrokerHeartbeatManager:
        """What a new leader begins with."""
        brokers = {
            broker.id: BrokerHeartbeatState(last_contact=now, fenced=broker.fenced)
            for broker in cluster.brokers.values()
        }
        return replace(self, brokers=HashTrieMap(brokers))

    def has_valid_session(self, id: int, now: int) -> bool:
        """Whether the broker is unfenced and was heard of within the session timeout."""
        broker = self.brokers.get(id)
        return (
            broker is not None
            and not broker.fenced
            and broker.last_contact + self.session_timeout_ms >= now
        )

    def registered(self, id: int, *, fenced: bool, anew: bool, now: int) -> BrokerHeartbeatManager:
        """A record says that a broker is registered, so that it is known here too.

        anew: it is another registration, which begins without offsets.
        """
        known = self.brokers.get(id)
        if known is None or anew:
            known = BrokerHeartbeatState(last_contact=now)
        offset = known.metadata_offset if known.fenced != fenced else NO_OFFSET
        return self._with(id, known).touched(id, fenced=fenced, metadata_offset=offset, now=now)

    def touched(
        self, id: int, *, fenced: bool, metadata_offset: int, now: int
    ) -> BrokerHeartbeatManager:
        """The broker was heard of. A fenced one is no longer in controlled shutdown."""
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
        """The broker's session is over."""
        return self._with(id, replace(self.brokers[id], fenced=True))

    def removed(self, id: int) -> BrokerHeartbeatManager:
        """The broker is no longer registered."""
        if id not in self.brokers:
            return self
        return replace(self, brokers=self.brokers.remove(id))

    def shutting_down(self, id: int, offset: int) -> BrokerHeartbeatManager:
        """A broker is in controlled shutdown; of several offsets to be reached the first counts."""
        broker = self.brokers[id]
        if broker.shutting_down:
            return self
        return self._with(id, replace(broker, shutdown_offset=offset))

    @property
    def lowest_active_offset(self) -> int | None:
        """What every active broker has of the metadata; None without active brokers."""
        offsets = [broker.metadata_offset for _, broker in self._unfenced(shutting_down=False)]
        return min(offsets, default=None)

    def stale_broker(self, now: int) -> int | None:
        """The unfenced broker that was silent for longest, if its session is over."""
        silent = min(((broker.last_contact, id) for id, broker in self._unfenced()), default=None)
        if silent is None or silent[0] + self.session_timeout_ms >= now:
            return None
        return silent[1]

    @property
    def deadline(self) -> int | None:
        """When a session may be over; None without unfenced brokers."""
        contacts = [broker.last_contact for _, broker in self._unfenced()]
        return min(contacts) + self.session_timeout_ms + 1 if contacts else None

    def usable_brokers(self) -> Iterator[tuple[int, bool]]:
        """The brokers that may get new replicas, by id, and whether they are fenced."""
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
        """What the broker becomes by this heartbeat.

        registration_offset: of its registration's record. leads: whether it leads partitions,
        asked only where that matters.

        1. Fenced: wants to stop: may at once; wants to be unfenced and has caught up with its own
           registration: is; else stays.
        2. Unfenced: wants to be fenced: is, and may stop if it wants that too; wants to stop: in
           controlled shutdown while it leads, else at once.
        3. In controlled shutdown: may stop once it leads nothing and every active broker knows so.
        """
        broker = self.brokers[request.broker_id]
        if broker.shutting_down:
            return self._next_of_stopping(broker, leads)
        if broker.fenced:
            if request.want_shut_down:
                return BrokerControlState.SHUTDOWN_NOW
            caught_up = request.current_metadata_offset >= registration_offset
            unfence = not request.want_fence and caught_up
            return BrokerControlState.UNFENCED if unfence else BrokerControlState.FENCED
        return _next_of_unfenced(request, leads)

    def _next_of_stopping(
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


def _next_of_unfenced(
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
