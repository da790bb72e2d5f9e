"""BrokerHeartbeat (KIP-631, KIP-841, KIP-858, KIP-1066)."""

from __future__ import annotations

from kwire.controller.handlers.placement import replication_control
from kwire.controller.handlers.result import (
    ControllerContext,
    ControllerResult,
    VersionedRecords,
    versioned,
)
from kwire.controller.replicas.broker_heartbeat_manager import (
    BrokerControlState,
    BrokerHeartbeatManager,
)
from kwire.image.broker import BrokerRegistration
from kwire.messages.a63_broker_heartbeat import BrokerHeartbeatRequest, BrokerHeartbeatResponse
from kwire.messages.records.broker_registration_change import BrokerRegistrationChangeRecord


def handle(request: BrokerHeartbeatRequest, context: ControllerContext) -> ControllerResult:
    """Note that a broker is alive, and change its state (Java:
    ReplicationControlManager.processBrokerHeartbeat).

    1. Not the broker's latest epoch: STALE_BROKER_EPOCH.
    2. Decide its next state (`BrokerHeartbeatManager.next_state`); write the records of a change:
       fenced and stopped brokers leave every ISR, an unfenced one leads what nobody leads, one in
       controlled shutdown leaves every ISR and leads nothing any more.
    3. Its session begins anew.
    4. Replicas in directories that went offline leave the ISR; a change of cordoned directories is
       recorded.
    5. It is caught up when it has its own registration's record.

    The answer waits for the records, or, if there are none, for all that was written before.
    """
    # 1.
    broker = context.broker(request.broker_id, request.broker_epoch)
    # 2.
    registration = context.registrations.get(broker.id, broker.epoch)
    next = context.heartbeat_manager.next_state(
        request,
        registration_offset=registration,
        leads=lambda: replication_control(context).leads(broker.id),
    )
    records: VersionedRecords = []
    if next is not context.heartbeat_manager.brokers[broker.id].state:
        records += _records_of(next, broker, context)
    # 4.
    records += _directories(request, broker, context)
    return ControllerResult(
        records=tuple(records),
        response=BrokerHeartbeatResponse(
            # 5.
            is_caught_up=request.current_metadata_offset >= registration,
            is_fenced=next.fenced,
            should_shut_down=next is BrokerControlState.SHUTDOWN_NOW,
        ),
        # 3.
        heartbeat_manager=_sessions_after(
            request, next, context.next_offset + len(records) - 1, context
        ),
    )


def _sessions_after(
    request: BrokerHeartbeatRequest,
    next: BrokerControlState,
    last_offset: int,
    context: ControllerContext,
) -> BrokerHeartbeatManager:
    """Return the sessions after a heartbeat.

    last_offset: of the records that move the leaders away: every other broker must have them
    before this one may stop.
    """
    heartbeat_manager = context.heartbeat_manager.touched(
        request.broker_id,
        fenced=next.fenced,
        metadata_offset=request.current_metadata_offset,
        now=context.now,
    )
    if next is BrokerControlState.CONTROLLED_SHUTDOWN:
        return heartbeat_manager.shutting_down(request.broker_id, last_offset)
    return heartbeat_manager


def _records_of(
    next: BrokerControlState, broker: BrokerRegistration, context: ControllerContext
) -> VersionedRecords:
    replication = replication_control(context)
    if next is BrokerControlState.UNFENCED:
        return replication.unfenced(broker)
    if next is BrokerControlState.CONTROLLED_SHUTDOWN:
        return replication.in_controlled_shutdown(broker)
    return replication.fenced(broker)


def _directories(
    request: BrokerHeartbeatRequest, broker: BrokerRegistration, context: ControllerContext
) -> VersionedRecords:
    version = context.metadata_version
    records: VersionedRecords = []
    if version.supports_directory_assignment:
        records += replication_control(context).directories_offline(
            broker, request.offline_log_dirs
        )
    cordoned = request.cordoned_log_dirs
    is_known = cordoned is None or cordoned == broker.cordoned_directories
    if version.supports_cordoned_log_dirs and not is_known:
        change = BrokerRegistrationChangeRecord(
            broker_id=broker.id, broker_epoch=broker.epoch, cordoned_log_dirs=cordoned
        )
        # Version 3 is the first with the field; the lowest that carries a change is written.
        records.append(versioned(change, 3))
    return records
