"""The operations of the active controller, as functions of values: a thread may run them.

Java's controller has a thread for its events, and a queue before it (ControllerWriteEvent). Here an
operation changes nothing: the controller writes its result, in its event loop, if the metadata is
still the one that the operation began with.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from kwire.batches import Record, build_batch
from kwire.batches.metadata_records import VersionedRecord
from kwire.codec.declaration import Request, Response
from kwire.controller.handlers.registry import Handler
from kwire.controller.handlers.result import (
    ControllerContext,
    ControllerResult,
    KRaftVersionRequest,
)
from kwire.controller.quotas.token_buckets import TokenBuckets
from kwire.controller.replicas.broker_heartbeat_manager import BrokerHeartbeatManager
from kwire.controller.state_machine.cluster_events import BrokerSessionExpired
from kwire.controller.state_machine.metadata_view import MetadataView, ViewDelta
from kwire.controller.state_machine.periodic_tasks import DueTask, Schedule, due_task
from kwire.errors import ApiError
from kwire.messages.records.broker_registration_change import BrokerRegistrationChangeRecord
from kwire.messages.records.fence_broker import FenceBrokerRecord
from kwire.messages.records.register_broker import RegisterBrokerRecord
from kwire.messages.records.unfence_broker import UnfenceBrokerRecord
from kwire.messages.records.unregister_broker import UnregisterBrokerRecord

MAX_RECORDS_PER_BATCH = 10_000
"""More records of one result become several batches (Java: QuorumController.appendRecords)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedBatches:
    """Records to append after a view, the view after each batch, and the sessions then."""

    records: tuple[VersionedRecord, ...]
    views: tuple[MetadataView, ...]
    heartbeat_manager: BrokerHeartbeatManager

    @classmethod
    def of(
        cls,
        records: Iterable[VersionedRecord],
        view: MetadataView,
        heartbeat_manager: BrokerHeartbeatManager,
        now: int,
    ) -> PreparedBatches:
        """Apply records to a view. Raises ReplayError if they do not fit."""
        views: list[MetadataView] = []
        prepared = tuple(records)
        for group in batches_of(prepared):
            # Records are applied before they are in the log: one that does not fit must not reach
            # the nodes that would replay it.
            delta = ViewDelta(view)
            for offset, record in enumerate(group, view.end_offset):
                delta.replay(record, offset)
                heartbeat_manager = _sessions_after(heartbeat_manager, record, delta, now)
            view = delta.view
            views.append(view)
        return cls(records=prepared, views=tuple(views), heartbeat_manager=heartbeat_manager)


def batches_of(records: tuple[VersionedRecord, ...]) -> list[tuple[VersionedRecord, ...]]:
    """Return the records in groups, one for each batch."""
    starts = range(0, len(records), MAX_RECORDS_PER_BATCH)
    return [records[start : start + MAX_RECORDS_PER_BATCH] for start in starts]


def encoded_batches(records: tuple[VersionedRecord, ...], now: int) -> list[bytes]:
    """Return the batches as they will be in the log, but for their offset and epoch."""
    return [
        build_batch(Record(value=record.encode(), timestamp=now) for record in group)
        for group in batches_of(records)
    ]


def _sessions_after(
    heartbeat_manager: BrokerHeartbeatManager,
    record: VersionedRecord,
    delta: ViewDelta,
    now: int,
) -> BrokerHeartbeatManager:
    """Return the sessions after a record: every registered broker has one, and no other.

    delta: with the record.
    """
    message = record.record
    if isinstance(message, UnregisterBrokerRecord):
        return heartbeat_manager.removed(message.broker_id)
    if isinstance(message, RegisterBrokerRecord | BrokerRegistrationChangeRecord):
        id = message.broker_id
    elif isinstance(message, FenceBrokerRecord | UnfenceBrokerRecord):
        id = message.id
    else:
        return heartbeat_manager
    return heartbeat_manager.registered(
        id,
        fenced=delta.image.cluster.brokers[id].fenced,
        anew=isinstance(message, RegisterBrokerRecord),
        now=now,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationResult:
    """The result of a request or of a periodic task.

    prepared: None if nothing may be written. response: None for a periodic task.
    batches: of the prepared records, if they are encoded already. mutation_buckets: of the mutation
    quotas afterwards; None if they stay. throttle_time_ms: how long the client should wait, counted
    from the beginning of the operation. log_levels: as of `ControllerResult`. expired: as of
    `DueTask`.
    """

    response: Response | None = None
    prepared: PreparedBatches | None = None
    schedule: Schedule | None = None
    expired: BrokerSessionExpired | None = None
    kraft_version: KRaftVersionRequest | None = None
    batches: tuple[bytes, ...] | None = None
    mutation_buckets: TokenBuckets | None = None
    throttle_time_ms: int = 0
    log_levels: Mapping[str, str | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestOperation:
    """A request and the metadata that its handler sees. view: its records come after that."""

    request: Request
    handler: Handler
    context: ControllerContext
    view: MetadataView

    def run(self) -> OperationResult:
        """Call the handler. Never raises ApiError: it becomes the response.

        What the client's quota lost stays lost, also if the request is refused.
        """
        result, quota = self._handled(), self.context.mutation_quota
        if quota is None:
            return result
        assert result.response is not None, "a request is answered"
        if quota.throttle_time_ms:
            # Only requests that a mutation quota is for are throttled; their responses tell it.
            result.response.throttle_time_ms = quota.throttle_time_ms  # type: ignore[attr-defined]
        return replace(
            result,
            mutation_buckets=quota.buckets,
            throttle_time_ms=quota.throttle_time_ms,
        )

    def _handled(self) -> OperationResult:
        handler, context = self.handler, self.context
        try:
            result: ControllerResult = handler.handle(self.request, context)
        except ApiError as error:
            return OperationResult(response=handler.refuse(self.request, context.version, error))
        if not handler.writes:
            return OperationResult(response=result.response)
        heartbeat_manager = (
            context.heartbeat_manager
            if result.heartbeat_manager is None
            else result.heartbeat_manager
        )
        return OperationResult(
            response=result.response,
            prepared=PreparedBatches.of(result.records, self.view, heartbeat_manager, context.now),
            kraft_version=result.kraft_version,
            log_levels=result.log_levels,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PeriodicOperation:
    """A point in time and the metadata then: the periodic tasks are due or not."""

    context: ControllerContext
    schedule: Schedule
    view: MetadataView

    def run(self) -> OperationResult:
        """Run the first task that is due."""
        task: DueTask = due_task(self.context, self.schedule)
        heartbeat_manager = (
            self.context.heartbeat_manager
            if task.heartbeat_manager is None
            else task.heartbeat_manager
        )
        prepared = PreparedBatches.of(task.records, self.view, heartbeat_manager, self.context.now)
        return OperationResult(prepared=prepared, schedule=task.schedule, expired=task.expired)


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnRecordsOperation:
    """Records for which no client asked (Java 3.9: MigrationWriteOperation)."""

    context: ControllerContext
    records: tuple[VersionedRecord, ...]
    view: MetadataView

    def run(self) -> OperationResult:
        """Apply the records. Raises ReplayError if they do not fit."""
        context = self.context
        prepared = PreparedBatches.of(
            self.records, self.view, context.heartbeat_manager, context.now
        )
        return OperationResult(prepared=prepared)


ControllerOperation = RequestOperation | PeriodicOperation | OwnRecordsOperation


def run_and_encode(operation: ControllerOperation) -> OperationResult:
    """Run an operation and encode its batches: the work that may take long."""
    result = operation.run()
    if result.prepared is None:
        return result
    batches = tuple(encoded_batches(result.prepared.records, operation.context.now))
    return replace(result, batches=batches)
