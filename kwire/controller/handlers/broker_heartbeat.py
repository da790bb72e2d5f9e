"""BrokerHeartbeatState (KIP-631, KIP-841, KIP-858, KIP-1066)."""

from __future__ import annotations

from dataclasses import replace

from kwire.controller.handlers.placement import replication
from kwire.controller.handlers.result import ControllerContext, ControllerResult, Records, versioned
from kwire.controller.replicas.broker_heartbeat_manager import (
    BrokerControlState,
    BrokerHeartbeatManager,
)
from kwire.image.broker import BrokerRegistration
from kwire.messages.a63_broker_heartbeat import BrokerHeartbeatRequest, BrokerHeartbeatResponse
from kwire.messages.records.broker_registration_change import BrokerRegistrationChangeRecord


def handle(request: BrokerHeartbeatRequest, context: ControllerContext) -> ControllerResult:
    """A broker is alive, and may change its state.

    1. Not the broker's latest epoch: STALE_BROKER_EPOCH.
    2. Decide its next state (`BrokerHeartbeatManager.next_state`); write the records of a change:
       fenced and stopped brokers leave every ISR, an unfenced one leads what nobody leads, one in
       controlled shutdown leaves every ISR and leads nothing any more.
    3. Its session begins anew.
    4. Replicas in directories that went offline leave the ISR; a change of cordoned directories is
       recorded.
    5. It is caught up when it has its own registration's record.

    The answer waits for the records, or, where there are none, for all that was written before.
    """
    broker = context.broker(request.broker_id, request.broker_epoch)
    registration = context.registrations.get(broker.id, broker.epoch)
    next = context.heartbeats.next_state(
        request,
        registration_offset=registration,
        leads=lambda: replication(context).leads(broker.id),
    )
    records: Records = []
    if next is not context.heartbeats.brokers[broker.id].state:
        records += _records_of(next, broker, context)
    records += _directories(request, broker, context)
    return ControllerResult(
        records=tuple(records),
        response=BrokerHeartbeatResponse(
            is_caught_up=request.current_metadata_offset >= registration,
            is_fenced=next.fenced,
            should_shut_down=next is BrokerControlState.SHUTDOWN_NOW,
        ),
        heartbeats=_after(request, next, context.next_offset + len(records) - 1, context),
    )


def _after(
    request: BrokerHeartbeatRequest,
    next: BrokerControlState,
    last_offset: int,
    context: ControllerContext,
) -> BrokerHeartbeatManager:
    """The sessions after it. last_offset: of the records that move the leaders away."""
    heartbeats = context.heartbeats.touched(
        request.broker_id,
        fenced=next.fenced,
        metadata_offset=request.current_metadata_offset,
        now=context.now,
    )
    if next is BrokerControlState.CONTROLLED_SHUTDOWN:
        return heartbeats.shutting_down(request.broker_id, last_offset)
    return heartbeats


def _records_of(
    next: BrokerControlState, broker: BrokerRegistration, context: ControllerContext
) -> Records:
    rules = replication(context)
    if next is BrokerControlState.UNFENCED:
        return rules.unfenced(broker)
    if next is BrokerControlState.CONTROLLED_SHUTDOWN:
        return rules.in_controlled_shutdown(broker)
    return rules.fenced(broker)


def _directories(
    request: BrokerHeartbeatRequest, broker: BrokerRegistration, context: ControllerContext
) -> Records:
    version = context.metadata_version
    records: Records = []
    if version.supports_directory_assignment:
        records += replication(context).directories_offline(broker, request.offline_log_dirs)
    cordoned = request.cordoned_log_dirs
    known = cordoned is None or cordoned == broker.cordoned_directories
    if version.supports_cordoned_log_dirs and not known:
        change = BrokerRegistrationChangeRecord(
            broker_id=broker.id, broker_epoch=broker.epoch, cordoned_log_dirs=cordoned
        )
        records.append(versioned(change, 3))
    return records


def expired(request: BrokerHeartbeatRequest, context: ControllerContext) -> BrokerHeartbeatManager:
    """A heartbeat that waited too long: the broker is alive, but its state stays."""
    broker = context.broker(request.broker_id, request.broker_epoch)
    known = replace(context.heartbeats.brokers[broker.id], last_contact=context.now)
    return context.heartbeats.touched(
        broker.id,
        fenced=known.fenced,
        metadata_offset=request.current_metadata_offset,
        now=context.now,
    )
