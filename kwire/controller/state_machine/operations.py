"""Drafts of what a leader is to write, made from values alone: in a thread where it takes long.

Java's controller has a thread for this and one queue of events before it. Here a draft changes
nothing until the controller takes it, in its event loop, if it still fits there.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypedDict

from kwire.batches import Record, build_batch
from kwire.batches.metadata_records import VersionedRecord
from kwire.codec.declaration import Request, Response
from kwire.controller.errors import ApiError
from kwire.controller.handlers.registry import Handler
from kwire.controller.handlers.result import ControllerContext, ControllerResult
from kwire.controller.replicas.broker_heartbeat_manager import BrokerHeartbeatManager
from kwire.controller.state_machine.metadata_view import View
from kwire.controller.state_machine.periodic_tasks import Due, Schedule, due
from kwire.image import MetadataImage
from kwire.messages.records.broker_registration_change import BrokerRegistrationChangeRecord
from kwire.messages.records.fence_broker import FenceBrokerRecord
from kwire.messages.records.register_broker import RegisterBrokerRecord
from kwire.messages.records.unfence_broker import UnfenceBrokerRecord
from kwire.messages.records.unregister_broker import UnregisterBrokerRecord

MAX_RECORDS_PER_BATCH = 10_000
"""More records of one result become several batches (Java: QuorumController.appendRecords)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedBatches:
    """Records to append behind a view, what the view is after each batch, and the sessions then."""

    records: tuple[VersionedRecord, ...]
    views: tuple[View, ...]
    heartbeats: BrokerHeartbeatManager

    @classmethod
    def of(
        cls,
        records: Iterable[VersionedRecord],
        view: View,
        heartbeats: BrokerHeartbeatManager,
        now: int,
    ) -> PreparedBatches:
        """Apply records to a view; ReplayError where they do not fit."""
        views: list[View] = []
        kept = tuple(records)
        for group in batches_of(kept):
            for offset, record in enumerate(group, view.end_offset):
                before = view.image
                view = view.applied(record, offset)
                heartbeats = _followed(heartbeats, record, before, view.image, now)
            views.append(view)
        return cls(records=kept, views=tuple(views), heartbeats=heartbeats)


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


def _followed(
    heartbeats: BrokerHeartbeatManager,
    record: VersionedRecord,
    before: MetadataImage,
    after: MetadataImage,
    now: int,
) -> BrokerHeartbeatManager:
    """Keep the sessions in step with the registrations."""
    message = record.record
    if isinstance(message, UnregisterBrokerRecord):
        return heartbeats.removed(message.broker_id)
    if isinstance(message, RegisterBrokerRecord | BrokerRegistrationChangeRecord):
        id = message.broker_id
    elif isinstance(message, FenceBrokerRecord | UnfenceBrokerRecord):
        id = message.id
    else:
        return heartbeats
    return heartbeats.registered(
        id,
        fenced=after.cluster.brokers[id].fenced,
        anew=isinstance(message, RegisterBrokerRecord),
        now=now,
    )


class RequestArguments(TypedDict):
    """The arguments of `QuorumController.handle` that a request is judged by, besides the state."""

    version: int
    now: int
    end_offset: int
    listener: str
    forwarded: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The result of a request or a tick. draft: None where nothing may be written.

    response: None for a tick. batches: those of the draft, where they are encoded already.
    """

    response: Response | None = None
    draft: PreparedBatches | None = None
    schedule: Schedule | None = None
    kraft_version: int | None = None
    batches: tuple[bytes, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestOperation:
    """A request and the state that it is judged by. view: what is written behind."""

    request: Request
    handler: Handler
    context: ControllerContext
    view: View

    def judge(self) -> Outcome:
        """Have the handler judge it. Never raises ApiError."""
        handler, context = self.handler, self.context
        try:
            result: ControllerResult = handler.handle(self.request, context)
        except ApiError as error:
            return Outcome(response=handler.refuse(self.request, context.version, error))
        if not handler.writes:
            return Outcome(response=result.response)
        heartbeats = context.heartbeats if result.heartbeats is None else result.heartbeats
        return Outcome(
            response=result.response,
            draft=PreparedBatches.of(result.records, self.view, heartbeats, context.now),
            kraft_version=result.kraft_version,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PeriodicOperation:
    """A point in time and the state then."""

    context: ControllerContext
    schedule: Schedule
    view: View

    def judge(self) -> Outcome:
        """Find the first of what is due."""
        found: Due = due(self.context, self.schedule)
        heartbeats = self.context.heartbeats if found.heartbeats is None else found.heartbeats
        draft = PreparedBatches.of(found.records, self.view, heartbeats, self.context.now)
        return Outcome(draft=draft, schedule=found.schedule)


Work = RequestOperation | PeriodicOperation


def run_and_encode(work: Work) -> Outcome:
    """Do everything that takes long."""
    outcome = work.judge()
    if outcome.draft is None:
        return outcome
    batches = tuple(encoded_batches(outcome.draft.records, work.context.now))
    return Outcome(
        response=outcome.response,
        draft=outcome.draft,
        schedule=outcome.schedule,
        kraft_version=outcome.kraft_version,
        batches=batches,
    )
