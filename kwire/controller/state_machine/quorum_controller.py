"""The state machine of the metadata quorum (Java: QuorumController), without raft and without IO.

Whoever runs it feeds it committed records, requests and the time, appends what comes back as one
batch at the end of the log, and tells it what is committed, or that leadership is lost.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from msgspec.structs import replace
from rpds import HashTrieMap

from kwire.batches.metadata_records import VersionedRecord
from kwire.codec.declaration import Request, Response
from kwire.codec.versions import Versions
from kwire.controller.errors import ApiError
from kwire.controller.handlers.registry import HANDLERS, Handler
from kwire.controller.handlers.result import ControllerConfig, ControllerContext, QuorumView
from kwire.controller.replicas.broker_heartbeat_manager import BrokerHeartbeatManager
from kwire.controller.replicas.replica_placer import RandomSource
from kwire.controller.state_machine.activation import check_can_lead
from kwire.controller.state_machine.metadata_view import View
from kwire.controller.state_machine.operations import (
    Outcome,
    PeriodicOperation,
    PreparedBatches,
    RequestOperation,
    Work,
)
from kwire.controller.state_machine.periodic_tasks import Schedule
from kwire.error_codes import ErrorCode
from kwire.image import MetadataImage, apply_all
from kwire.messages.a63_broker_heartbeat import BrokerHeartbeatRequest
from kwire.messages.records.abort_transaction import AbortTransactionRecord
from kwire.messages.records.begin_transaction import BeginTransactionRecord
from kwire.messages.records.end_transaction import EndTransactionRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a request comes to.

    records: to be appended at the `end_offset` that was given, as one batch, or as
    MAX_RECORDS_PER_BATCH each. wait_for: the response is released when everything below this offset
    is committed; None: at once. kraft_version: raft is asked for this level besides, and its answer
    is what counts. batches: the records, where they are encoded already.
    """

    response: Response
    records: tuple[VersionedRecord, ...] = ()
    wait_for: int | None = None
    kraft_version: int | None = None
    batches: tuple[bytes, ...] | None = None


class QuorumController:
    """Committed metadata, what the leader wrote ahead of it, and the sessions of the brokers."""

    def __init__(self, config: ControllerConfig, random: RandomSource) -> None:
        self.config = config
        self.committed = View()
        self.ahead = View()
        self.heartbeats = BrokerHeartbeatManager(session_timeout_ms=config.session_timeout_ms)
        self.quorum = QuorumView(leader_id=None)
        self.epoch: int | None = None
        self._random = random
        self._pending: deque[View] = deque()
        self._schedule = Schedule()
        self._contacts: dict[int, int] = {}

    @property
    def is_active(self) -> bool:
        """Whether this node leads and may write."""
        return self.epoch is not None

    @property
    def image(self) -> MetadataImage:
        """What is committed, without the records of an open transaction."""
        return self.committed.image.published

    @property
    def end_offset(self) -> int:
        """Where the next batch begins."""
        return self.ahead.end_offset

    @property
    def apis(self) -> Mapping[int, Versions]:
        """API key to the versions that are answered."""
        return {key: handler.versions for key, handler in HANDLERS.items()}

    def replay(self, records: Iterable[VersionedRecord], base_offset: int) -> None:
        """Committed records of one batch, as followers and observers get them. ReplayError."""
        view = self.committed
        for offset, record in enumerate(records, base_offset):
            view = view.applied(record, offset)
        self.committed = view
        if not self.is_active:
            self.ahead = view

    def follow(self, view: View) -> None:
        """Take what was replayed from the log, up to a commit, while this node does not lead."""
        self.committed = self.ahead = view

    def load(self, records: Iterable[VersionedRecord], end_offset: int) -> None:
        """Begin anew with a snapshot that ends before `end_offset`."""
        self.committed = View()
        self.replay(records, 0)
        brokers = self.committed.image.cluster.brokers
        registrations = HashTrieMap(dict.fromkeys(brokers, end_offset - 1))
        self.committed = replace(self.committed, end_offset=end_offset, registrations=registrations)
        self.ahead = self.committed

    def activate(
        self, epoch: int, now: int, end_offset: int, bootstrap: Iterable[VersionedRecord] = ()
    ) -> tuple[VersionedRecord, ...]:
        """This node leads and everything below `end_offset` was replayed: the records to append.

        1. What `check_can_lead` finds: CannotLead.
        2. An open transaction is aborted.
        3. A log without metadata.version gets the bootstrap records, as a transaction where the
           version of them has transactions.
        4. Every broker begins a full session.
        """
        records = self._activation_records(list(bootstrap))
        self.epoch = epoch
        self.ahead = self.committed = replace(self.committed, end_offset=end_offset)
        self.heartbeats = self.heartbeats.activated(self.ahead.image.cluster, now)
        self._schedule = Schedule.starting(now, self.config)
        self._write(PreparedBatches.of(records, self.ahead, self.heartbeats, now), now)
        return tuple(records)

    def _activation_records(self, bootstrap: list[VersionedRecord]) -> list[VersionedRecord]:
        records: list[VersionedRecord] = []
        image = self.committed.image
        if image.before is not None:
            abort = AbortTransactionRecord(reason="Another controller leads")
            records.append(VersionedRecord(record=abort, version=0))
            image = image.before
        first = not image.features.has_metadata_version
        features = apply_all(image, bootstrap).features if first else image.features
        check_can_lead(features)
        if not first or not bootstrap:
            return records
        version = features.metadata_version
        if not version.supports_metadata_transactions:
            return records + bootstrap
        begin = BeginTransactionRecord(name="Bootstrap records")
        bounds = [VersionedRecord(record=one, version=0) for one in (begin, EndTransactionRecord())]
        return [*records, bounds[0], *bootstrap, bounds[1]]

    def resign(self) -> None:
        """This node leads no more: what is not committed, and who was alive, is forgotten."""
        self.epoch = None
        self._pending.clear()
        self.ahead = self.committed
        self.heartbeats = BrokerHeartbeatManager(session_timeout_ms=self.config.session_timeout_ms)
        self._contacts.clear()

    def heard_of(self, request: BrokerHeartbeatRequest, now: int) -> None:
        """Note that a broker is alive, before its heartbeat is judged.

        A broker is not fenced while its heartbeats wait behind long requests (Java:
        QuorumController.processBrokerHeartbeat, which tracks those that expire in the queue).
        """
        broker = self.ahead.image.cluster.brokers.get(request.broker_id)
        if self.is_active and broker is not None and broker.epoch == request.broker_epoch:
            self._contacts[broker.id] = now

    def commit(self, offset: int) -> None:
        """While this node leads: everything below the offset is committed."""
        while self._pending and self._pending[0].end_offset <= offset:
            self.committed = self._pending.popleft()

    def handle(
        self,
        request: Request,
        *,
        version: int,
        now: int,
        end_offset: int,
        listener: str = "",
        forwarded: bool = False,
    ) -> Answer:
        """Judge a request by the state and write what it changes. Never raises ApiError.

        end_offset: of the log, where the batch will begin; raft writes to it, too.

        1. No leader here: NOT_CONTROLLER, but for what every controller answers.
        2. A handler that reads is given what is committed and its answer is released at once; one
           that writes is given what is ahead, and its answer waits for all that was written.
        """
        work = self.begin(
            request,
            version=version,
            now=now,
            end_offset=end_offset,
            listener=listener,
            forwarded=forwarded,
        )
        return work if isinstance(work, Answer) else self.take(work, work.judge())

    def begin(
        self,
        request: Request,
        *,
        version: int,
        now: int,
        end_offset: int,
        listener: str = "",
        forwarded: bool = False,
    ) -> RequestOperation | Answer:
        """Return what `handle` has to judge; a thread may do that, and `take` is next.

        Whoever calls this sees to it that nothing else is written in between.
        """
        handler = HANDLERS[_key(request)]
        if handler.active_only and not self.is_active:
            error = ApiError(ErrorCode.NOT_CONTROLLER, "This controller is not the active one.")
            return Answer(response=handler.refuse(request, version, error))
        self._at(end_offset)
        context = self._context(handler, version, now, listener, forwarded=forwarded)
        view = self.ahead if handler.writes else self.committed
        return RequestOperation(request=request, handler=handler, context=context, view=view)

    def fits(self, work: Work) -> bool:
        """True if nothing was written, and no leadership ended, since the work began."""
        return self.is_active and work.view is self.ahead

    def take(self, work: RequestOperation, outcome: Outcome) -> Answer:
        """Write what a request has come to."""
        assert outcome.response is not None, "a request is answered"
        if outcome.draft is None:
            return Answer(response=outcome.response)
        self._write(outcome.draft, work.context.now)
        return Answer(
            response=outcome.response,
            records=outcome.draft.records,
            wait_for=self._pending[-1].end_offset if self._pending else None,
            kraft_version=outcome.kraft_version,
            batches=outcome.batches,
        )

    def _at(self, end_offset: int) -> None:
        if self.is_active and end_offset != self.ahead.end_offset:
            self.ahead = replace(self.ahead, end_offset=end_offset)

    def tick(self, now: int, end_offset: int) -> tuple[VersionedRecord, ...]:
        """Return what is due at this time, to be appended; call again until there is nothing.

        One stale broker is fenced at a time, so that each sees the effect of the one before.
        """
        work = self.begin_tick(now, end_offset)
        return () if work is None else self.take_tick(work, work.judge())

    def begin_tick(self, now: int, end_offset: int) -> PeriodicOperation | None:
        """Return what `tick` has to judge, as `begin` does; None while not active."""
        if not self.is_active:
            return None
        self._at(end_offset)
        context = self._context(None, 0, now, "")
        return PeriodicOperation(context=context, schedule=self._schedule, view=self.ahead)

    def take_tick(self, work: PeriodicOperation, outcome: Outcome) -> tuple[VersionedRecord, ...]:
        """Write what a tick has come to."""
        assert outcome.draft is not None
        assert outcome.schedule is not None
        self._schedule = outcome.schedule
        self._write(outcome.draft, work.context.now)
        return outcome.draft.records

    def is_tick_long(self, now: int) -> bool:
        """True if what is due has to look at every partition."""
        return self._schedule.looks_at_partitions(now) or (
            self.heartbeats.stale_broker(now) is not None
        )

    def deadline(self) -> int | None:
        """When `tick` is to be called next, in milliseconds; None while not active."""
        if not self.is_active:
            return None
        times = [self._schedule.deadline, self.heartbeats.deadline]
        return min(time for time in times if time is not None)

    def _context(
        self,
        handler: Handler | None,
        version: int,
        now: int,
        listener: str,
        *,
        forwarded: bool = False,
    ) -> ControllerContext:
        writes = handler is None or handler.writes
        if writes:  # a read may come in the middle of a write, whose draft has sessions of its own
            self._take_contacts()
        view = self.ahead if writes else self.committed
        return ControllerContext(
            image=view.image if writes else view.image.published,
            heartbeats=self.heartbeats,
            config=self.config,
            quorum=self.quorum,
            random=self._random,
            now=now,
            next_offset=self.ahead.end_offset,
            version=version,
            listener=listener,
            forwarded=forwarded,
            registrations=view.registrations,
        )

    def _take_contacts(self) -> None:
        for id, now in self._contacts.items():
            self.heartbeats = self.heartbeats.heard_of(id, now)
        self._contacts.clear()

    def _write(self, draft: PreparedBatches, now: int) -> None:
        """Take a draft, ahead of its commit."""
        self.heartbeats = draft.heartbeats
        if draft.views:
            self.ahead = draft.views[-1]
            self._pending.extend(draft.views)
            self._schedule = self._schedule.written(now, self.config)


def _key(request: Request) -> int:
    key = type(request).key
    assert key is not None, f"{type(request).__name__} has no API key"
    return key
