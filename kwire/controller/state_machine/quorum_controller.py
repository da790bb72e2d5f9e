"""The state machine of the metadata quorum (Java: QuorumController), without raft and without IO.

Its runtime gives it committed records, requests and the time, appends the records that it returns
as one batch at the end of the log, and tells it of commits and of the loss of leadership.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from msgspec.structs import replace
from rpds import HashTrieMap

from kwire.batches.metadata_records import VersionedRecord
from kwire.codec.declaration import Request, Response
from kwire.codec.versions import Versions
from kwire.controller.authentication.token_index import TokenIndex
from kwire.controller.authorization.access import FULL_ACCESS, Access, check_cluster
from kwire.controller.handlers.registry import HANDLERS, Handler
from kwire.controller.handlers.result import (
    ControllerConfig,
    ControllerContext,
    ControllerEvent,
    KRaftVersionRequest,
    QuorumView,
)
from kwire.controller.quotas.controller_mutation_quota import ControllerMutationQuota
from kwire.controller.quotas.token_buckets import TokenBuckets
from kwire.controller.replicas.broker_heartbeat_manager import BrokerHeartbeatManager
from kwire.controller.replicas.replica_placer import RandomSource
from kwire.controller.state_machine.activation import activation_records
from kwire.controller.state_machine.cluster_events import (
    ClusterEvent,
    ControllerActivated,
    cluster_events,
)
from kwire.controller.state_machine.metadata_view import MetadataView
from kwire.controller.state_machine.operations import (
    ControllerOperation,
    OperationResult,
    OwnRecordsOperation,
    PeriodicOperation,
    PreparedBatches,
    RequestOperation,
    run_and_encode,
)
from kwire.controller.state_machine.periodic_tasks import Schedule
from kwire.error_codes import ErrorCode
from kwire.errors import ApiError
from kwire.image import MetadataImage
from kwire.messages.a63_broker_heartbeat import BrokerHeartbeatRequest
from kwire.net.service import RequestContext

_OWN_WORK = RequestContext(version=0)
"""The origin of what a controller does by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingResponse:
    """The response to a request, and the records that must be committed before it is released.

    records: to be appended at the `end_offset` of the call, as one batch, or as
    MAX_RECORDS_PER_BATCH each. wait_for: the response is released when everything below this offset
    is committed; None: at once. kraft_version: raft is to be asked for it; if it agrees, the
    request is to be handled once more. batches: the records, encoded.
    throttled_until: when the client may ask again, in milliseconds since 1970; 0 for at once.
    log_levels: as of `ControllerResult`.
    """

    response: Response
    records: tuple[VersionedRecord, ...] = ()
    wait_for: int | None = None
    kraft_version: KRaftVersionRequest | None = None
    batches: tuple[bytes, ...] | None = None
    throttled_until: int = 0
    log_levels: Mapping[str, str | None] = field(default_factory=dict)


class QuorumController:
    """Committed metadata, the leader's writes ahead of it, and the sessions of the brokers.

    committed: the metadata up to the high watermark. ahead: with everything that this leader has
    written; the same while this node does not lead (Java: SnapshotRegistry keeps both in one).
    _pending: the views after each batch that is not committed.
    _contacts: times of heartbeats that are not handled yet, by broker.
    _log_levels: returns those of this node's loggers.
    """

    def __init__(
        self,
        config: ControllerConfig,
        random: RandomSource,
        log_levels: Callable[[], Mapping[str, str]] = dict,
    ) -> None:
        self.config = config
        self._log_levels = log_levels
        self.committed = MetadataView()
        self.ahead = MetadataView()
        self.heartbeat_manager = BrokerHeartbeatManager(
            session_timeout_ms=config.session_timeout_ms
        )
        # Of this node, whether it leads or not, as Java's sensors.
        self._mutation_buckets = TokenBuckets()
        self.quorum = QuorumView(leader_id=None)
        self.epoch: int | None = None
        self._random = random
        self._token_index = TokenIndex(config.delegation_tokens.secret)
        self._pending: deque[MetadataView] = deque()
        self._schedule = Schedule()
        self._contacts: dict[int, int] = {}
        self._events: list[ClusterEvent] = []

    @property
    def is_active(self) -> bool:
        """True if this node leads and may write."""
        return self.epoch is not None

    @property
    def image(self) -> MetadataImage:
        """The committed metadata, without the records of an open transaction (KIP-868)."""
        return self.committed.image.published

    def take_events(self) -> list[ClusterEvent]:
        """Return what happened since the last call and an operator may ask about."""
        events, self._events = self._events, []
        return events

    @property
    def is_waiting(self) -> bool:
        """True while the rules let the periodic tasks rest."""
        return self.config.rules.is_waiting(self.ahead.image.features)

    @property
    def end_offset(self) -> int:
        """The offset of the next batch."""
        return self.ahead.end_offset

    @property
    def apis(self) -> Mapping[int, Versions]:
        """The versions that are answered, by API key."""
        return {key: handler.versions for key, handler in HANDLERS.items()}

    def access(self, origin: RequestContext) -> Access:
        """Return what the sender of a request may do, by the committed ACLs."""
        authorizer = self.config.authorizer
        if authorizer is None:
            return FULL_ACCESS
        return authorizer.access(self.image.acls, origin.principal, origin.peer[0])

    def replay(self, records: Iterable[VersionedRecord], base_offset: int) -> None:
        """Apply the committed records of one batch. Raises ReplayError if they do not fit."""
        self.committed = view = self.committed.applied(records, base_offset)
        if not self.is_active:
            self.ahead = view

    def follow(self, view: MetadataView) -> None:
        """Take over the metadata replayed up to a commit, while this node does not lead."""
        before = self.image
        self.committed = self.ahead = view
        self._events += cluster_events(before, self.image)

    def load(self, records: Iterable[VersionedRecord], end_offset: int) -> None:
        """Begin anew with a snapshot that ends before `end_offset`."""
        self.committed = MetadataView()
        self.replay(records, 0)
        brokers = self.committed.image.cluster.brokers
        # A snapshot does not keep the offsets of its records. Its last offset is safe: a broker
        # that has reached it has its own registration, too.
        registrations = HashTrieMap(dict.fromkeys(brokers, end_offset - 1))
        self.committed = replace(self.committed, end_offset=end_offset, registrations=registrations)
        self.ahead = self.committed

    def activate(
        self, epoch: int, now: int, end_offset: int, bootstrap: Iterable[VersionedRecord] = ()
    ) -> tuple[VersionedRecord, ...]:
        """Begin to lead, once all below `end_offset` was replayed; return the records to append.

        1. Take the `activation_records`. Raises CannotLead as they do.
        2. Every broker begins a full session: this node has not heard of them before.
        """
        # 1.
        records = activation_records(self.committed.image, bootstrap, self.config)
        self.epoch = epoch
        # Raft has written control records after what was replayed.
        self.ahead = self.committed = replace(self.committed, end_offset=end_offset)
        # 2.
        cluster = self.ahead.image.published.cluster  # an open transaction is aborted
        self.heartbeat_manager = self.heartbeat_manager.activated(cluster, now)
        self._schedule = Schedule.starting(now, self.config)
        self._write(PreparedBatches.of(records, self.ahead, self.heartbeat_manager, now), now)
        self._events.append(ControllerActivated(epoch=epoch, end_offset=end_offset))
        return tuple(records)

    def resign(self) -> None:
        """Stop leading: forget what is not committed, and the sessions of the brokers."""
        self.epoch = None
        self._pending.clear()
        self.ahead = self.committed
        self.heartbeat_manager = BrokerHeartbeatManager(
            session_timeout_ms=self.config.session_timeout_ms
        )
        self._contacts.clear()

    def record_contact(self, request: BrokerHeartbeatRequest, now: int) -> None:
        """Note that a broker is alive, before its heartbeat is handled."""
        # A broker must not be fenced while its heartbeats wait behind long requests (Java:
        # QuorumController.processBrokerHeartbeat, which tracks those that expire in the queue).
        broker = self.ahead.image.cluster.brokers.get(request.broker_id)
        if self.is_active and broker is not None and broker.epoch == request.broker_epoch:
            self._contacts[broker.id] = now

    def commit(self, offset: int) -> None:
        """Note that everything below the offset is committed, while this node leads."""
        before = self.image
        while self._pending and self._pending[0].end_offset <= offset:
            self.committed = self._pending.popleft()
        self._events += cluster_events(before, self.image)

    def handle(
        self,
        request: Request,
        origin: RequestContext,
        *,
        now: int,
        end_offset: int,
    ) -> PendingResponse:
        """Run the handler of a request and write its records. Never raises ApiError.

        origin: of the request. end_offset: of the log, where the batch will begin; raft writes to
        it, too.

        1. Without the operation on the cluster that the API needs: CLUSTER_AUTHORIZATION_FAILED;
           without the authorizer that it needs: SECURITY_DISABLED.
        2. It is an event, but has no time: REQUEST_TIMED_OUT.
        3. It is a write, or asks for one that the metadata refuse, and this node is not active:
           NOT_CONTROLLER; a write that the rules refuse, too.
        4. A handler that reads sees what is committed, and its answer is released at once; one that
           writes sees what is written ahead of that, and its answer waits for all that was written.
        """
        try:
            operation = self.begin(request, origin, now=now, end_offset=end_offset)
        except ApiError as error:
            refused = HANDLERS[_key(request)].refuse(request, origin.version, error)
            return PendingResponse(response=refused)
        # Encoded first: a record that cannot be written must not be in the metadata either.
        return self.finish(operation, run_and_encode(operation))

    def begin(
        self,
        request: Request,
        origin: RequestContext,
        *,
        now: int,
        end_offset: int,
    ) -> RequestOperation:
        """Return the operation of a request; a thread may run it, and `finish` is next.

        The caller sees to it that nothing else is written in between. The steps, and the codes of
        the ApiErrors that are raised, are those of `handle`.
        """
        handler = HANDLERS[_key(request)]
        # 1.
        if handler.needs is not None:
            check_cluster(self.access(origin), handler.needs)
        if handler.needs_authorizer and self.config.authorizer is None:
            raise ApiError(ErrorCode.SECURITY_DISABLED, "No authorizer is configured.")
        self._move_end_to(end_offset)
        context = self._context(handler, now, origin)
        # 2., 3.
        self._check_can_be_asked(request, handler, context)
        # 4.
        view = self.ahead if handler.writes else self.committed
        return RequestOperation(request=request, handler=handler, context=context, view=view)

    def _check_can_be_asked(
        self, request: Request, handler: Handler, context: ControllerContext
    ) -> None:
        limit_ms = handler.limit_ms(request)
        is_late = limit_ms is not None and limit_ms <= 0
        refusal = self.config.rules.refusal(request, self.ahead.image.features)
        if self.is_active and refusal is None and not is_late:
            return
        event = handler.event(request, context)
        # 2.
        if is_late and event is not ControllerEvent.NONE:
            text = f"Nothing was done: the request's time limit of {limit_ms} ms has passed."
            raise ApiError(ErrorCode.REQUEST_TIMED_OUT, text)
        # 3. The metadata of others are older: Kafka's refuse to delete a topic that was just made.
        refuses = event is ControllerEvent.READ and handler.writes
        if (event is ControllerEvent.WRITE or refuses) and not self.is_active:
            raise ApiError(ErrorCode.NOT_CONTROLLER, "This controller is not the active one.")
        if event is ControllerEvent.WRITE and refusal is not None:
            raise ApiError(ErrorCode.NOT_CONTROLLER, refusal)

    def is_current(self, operation: ControllerOperation, end_offset: int) -> bool:
        """Return True if nothing was written, and no epoch ended, since the operation began.

        end_offset: of the log. A broker epoch, for example, is the offset of its record: work that
        counted on another offset, before raft wrote records of its own, is done again.
        """
        view = operation.view
        return self.is_active and view is self.ahead and view.end_offset == end_offset

    def finish(self, operation: RequestOperation, result: OperationResult) -> PendingResponse:
        """Write the result of a request; return its response, which may have to wait."""
        assert result.response is not None, "a request is answered"
        throttled_until = 0
        if result.mutation_buckets is not None:
            self._mutation_buckets = result.mutation_buckets
        if result.throttle_time_ms:
            throttled_until = operation.context.now + result.throttle_time_ms
        if result.prepared is None:
            return PendingResponse(response=result.response, throttled_until=throttled_until)
        self._write(result.prepared, operation.context.now)
        return PendingResponse(
            response=result.response,
            records=result.prepared.records,
            # Also without records of its own an answer tells of what others have written.
            wait_for=self._pending[-1].end_offset if self._pending else None,
            kraft_version=result.kraft_version,
            batches=result.batches,
            log_levels=result.log_levels,
            throttled_until=throttled_until,
        )

    def _move_end_to(self, end_offset: int) -> None:
        # Raft appends control records of its own, such as VotersRecords.
        if self.is_active and end_offset != self.ahead.end_offset:
            self.ahead = replace(self.ahead, end_offset=end_offset)

    def tick(self, now: int, end_offset: int) -> tuple[VersionedRecord, ...]:
        """Run a periodic task; return its records, to be appended; call again until there are none.

        One stale broker is fenced at a time, so that each sees the effect of the one before.
        """
        operation = self.begin_tick(now, end_offset)
        return () if operation is None else self.finish_tick(operation, operation.run())

    def begin_tick(self, now: int, end_offset: int) -> PeriodicOperation | None:
        """Return the operation of `tick`, as `begin` does; None while not active."""
        if not self.is_active:
            return None
        self._move_end_to(end_offset)
        context = self._context(None, now)
        return PeriodicOperation(context=context, schedule=self._schedule, view=self.ahead)

    def begin_records(
        self, records: tuple[VersionedRecord, ...], now: int, end_offset: int
    ) -> OwnRecordsOperation:
        """Return the operation that writes records of the node's own, as `begin` does."""
        self._move_end_to(end_offset)
        context = self._context(None, now)
        return OwnRecordsOperation(context=context, records=records, view=self.ahead)

    def finish_tick(
        self, operation: PeriodicOperation | OwnRecordsOperation, result: OperationResult
    ) -> tuple[VersionedRecord, ...]:
        """Write the result of an operation for which no client waits; return its records."""
        assert result.prepared is not None
        if result.schedule is not None:
            self._schedule = result.schedule
        if result.expired is not None:
            self._events.append(result.expired)
        self._write(result.prepared, operation.context.now)
        return result.prepared.records

    def is_tick_long(self, now: int) -> bool:
        """Return True if the task that is due has to look at every partition."""
        return not self.is_waiting and self._is_task_long(now)

    def _is_task_long(self, now: int) -> bool:
        return self._schedule.is_election_due(now) or (
            self.heartbeat_manager.stale_broker(now) is not None
        )

    def deadline(self) -> int | None:
        """Return the time of the next `tick`, in milliseconds; None while not active."""
        if not self.is_active:
            return None
        if self.is_waiting:
            return self._schedule.no_op
        times = [self._schedule.deadline, self.heartbeat_manager.deadline]
        return min(time for time in times if time is not None)

    def _context(
        self,
        handler: Handler | None,
        now: int,
        origin: RequestContext = _OWN_WORK,
    ) -> ControllerContext:
        writes = handler is None or handler.writes
        # A read may come in the middle of a write, whose result has sessions of its own.
        if writes:
            self._take_contacts()
        view = self.ahead if writes else self.committed
        is_write = handler is not None and handler.writes
        quota = self._mutation_quota(origin, now) if is_write else None
        return ControllerContext(
            # Reads do not see an open transaction; writes must fit to its records (KIP-868).
            image=view.image if writes else view.image.published,
            heartbeat_manager=self.heartbeat_manager,
            config=self.config,
            quorum=self.quorum,
            random=self._random,
            now=now,
            next_offset=self.ahead.end_offset,
            version=origin.version,
            listener=origin.listener,
            forwarded=origin.forwarded,
            principal=origin.principal,
            host=origin.peer[0],
            by_delegation_token=origin.by_delegation_token,
            access=self.access(origin),
            mutation_quota=quota,
            registrations=view.registrations,
            token_index=self._token_index,
            log_levels=self._log_levels,
        )

    def _mutation_quota(self, origin: RequestContext, now: int) -> ControllerMutationQuota:
        """Return the quota of a request's sender, by the committed metadata."""
        config = self.config
        return ControllerMutationQuota(
            self._mutation_buckets,
            self.image.client_quotas,
            user=origin.principal.partition(":")[2],
            client_id=origin.client_id or "",
            burst_seconds=config.quota_window_num * config.quota_window_size_seconds,
            now=now,
        )

    def _take_contacts(self) -> None:
        for id, now in self._contacts.items():
            self.heartbeat_manager = self.heartbeat_manager.record_contact(id, now)
        self._contacts.clear()

    def _write(self, prepared: PreparedBatches, now: int) -> None:
        """Take over prepared batches, ahead of their commit."""
        self.heartbeat_manager = prepared.heartbeat_manager
        if prepared.views:
            self.ahead = prepared.views[-1]
            self._pending.extend(prepared.views)
            self._schedule = self._schedule.written(now, self.config)


def _key(request: Request) -> int:
    key = type(request).key
    assert key is not None, f"{type(request).__name__} has no API key"
    return key
