"""BrokerRegistration (KIP-631, KIP-858, KIP-866, KIP-896)."""

from __future__ import annotations

from collections.abc import Iterable

from kwire.controller.handlers.placement import replication_control
from kwire.controller.handlers.result import ControllerContext, ControllerResult, versioned
from kwire.controller.raft.endpoints import unusable
from kwire.error_codes import ErrorCode
from kwire.errors import ApiError
from kwire.image.broker import RESERVED_DIRECTORIES, BrokerRegistration
from kwire.image.endpoint import endpoint_groups, feature_groups, supported
from kwire.messages import a62_broker_registration as broker
from kwire.messages import a70_controller_registration as controller
from kwire.messages.a62_broker_registration import (
    BrokerRegistrationRequest,
    BrokerRegistrationResponse,
)
from kwire.messages.metadata_versions import KRAFT_VERSION, METADATA_VERSION
from kwire.messages.records.register_broker import (
    BrokerEndpoint,
    BrokerFeature,
    RegisterBrokerRecord,
)
from kwire.net.negotiation import VersionRange
from kwire.net.security import PROTOCOLS
from kwire.text.ids import uuid_text


def handle(request: BrokerRegistrationRequest, context: ControllerContext) -> ControllerResult:
    """Register a broker that enters the cluster or comes back (Java:
    ClusterControlManager.registerBroker).

    1. Another cluster's id: INCONSISTENT_CLUSTER_ID.
    2. The id has a valid session under another incarnation: DUPLICATE_BROKER_REGISTRATION.
    3. What the `rules.Rules` refuse: without a migration, brokers that come with one are
       BROKER_ID_NOT_REGISTERED (KIP-866).
    4. Directories, once metadata.version has them: none, reserved ones, one twice, or another
       broker's: INVALID_REGISTRATION.
    5. What `check_node` refuses: INVALID_REGISTRATION.
    6. A finalised feature level outside what it supports: UNSUPPORTED_VERSION. It must name
       metadata.version: INVALID_REGISTRATION, since 4.0; kraft.version and others it need not.
    7. The same incarnation keeps its epoch and state; else the epoch is the offset at which the
       batch of this registration begins, and the broker is fenced.
    8. The incarnation before it leaves every ISR first, if it was not fenced yet (KIP-841); every
       ELR too, unless the broker names that incarnation's epoch, which it keeps in a file when it
       stops clean (KIP-966).
    """
    # 1.
    if request.cluster_id != context.config.cluster_id:
        text = f"This is cluster {context.config.cluster_id}, not {request.cluster_id}."
        raise ApiError(ErrorCode.INCONSISTENT_CLUSTER_ID, text)
    # 2.
    known = context.image.cluster.brokers.get(request.broker_id)
    _check_session(request, known, context)
    # 3.
    context.config.rules.check_broker(request, context.image.features)
    # 4.
    if context.metadata_version.supports_directory_assignment:
        _check_directories(request, context)
    # 5.
    check_node(request.broker_id, request.listeners)
    # 6.
    _check_features(request, context)
    # 7.
    same = known is not None and known.incarnation_id == request.incarnation_id
    epoch = known.epoch if known is not None and same else context.next_offset
    record = _record(request, epoch, context)
    if known is not None and same:
        record.fenced = known.fenced
        record.in_controlled_shutdown = known.in_controlled_shutdown
    # 8.
    clean = known is not None and known.epoch == request.previous_broker_epoch
    replication = replication_control(context)
    changes = [] if same else replication.stopped(request.broker_id, clean=clean)
    return ControllerResult(
        records=(*changes, versioned(record, context.metadata_version.register_broker_record)),
        response=BrokerRegistrationResponse(broker_epoch=epoch),
    )


def check_node(
    id: int, listeners: Iterable[broker.Listener] | Iterable[controller.Listener]
) -> None:
    """Check what brokers and controllers register alike. Raises INVALID_REGISTRATION for:

    1. a negative id, which stands for no node in the records;
    2. listeners that are `unusable`, or a security protocol that is none. Kafka's active controller
       resigns with UNKNOWN_SERVER_ERROR at these, and its nodes end if they read them in a record.
    """
    # 1.
    if id < 0:
        raise _invalid(f"{id} is no id of a node.")
    # 2.
    if text := unusable(listeners):
        raise _invalid(text)
    for listener in listeners:
        if listener.security_protocol not in range(len(PROTOCOLS)):
            number = listener.security_protocol
            raise _invalid(f"Listener {listener.name} has no security protocol: {number}.")


def _check_session(
    request: BrokerRegistrationRequest, known: BrokerRegistration | None, context: ControllerContext
) -> None:
    if known is None or known.incarnation_id == request.incarnation_id:
        return
    if context.heartbeat_manager.has_valid_session(known.id, context.now):
        text = f"Broker {known.id} is running elsewhere: its session has not ended."
        raise ApiError(ErrorCode.DUPLICATE_BROKER_REGISTRATION, text)


def _check_directories(request: BrokerRegistrationRequest, context: ControllerContext) -> None:
    directories = request.log_dirs
    if not directories:
        raise _invalid("No log directories are given.")
    if RESERVED_DIRECTORIES & set(directories):
        raise _invalid("A reserved id is given as that of a log directory.")
    if len(set(directories)) != len(directories):
        raise _invalid("A log directory is given twice.")
    for other in context.image.cluster.brokers.values():
        shared = set(other.directories) & set(directories)
        if other.id != request.broker_id and shared:
            raise _invalid(f"Directory {uuid_text(shared.pop())} is broker {other.id}'s.")


def _invalid(message: str) -> ApiError:
    return ApiError(ErrorCode.INVALID_REGISTRATION, message)


def _check_features(request: BrokerRegistrationRequest, context: ControllerContext) -> None:
    ranges = _ranges(request)
    finalised = {**context.image.features.levels, KRAFT_VERSION: context.quorum.kraft_version}
    for name, levels in ranges.items():
        _check_level(name, finalised.get(name, 0), levels)
    if METADATA_VERSION not in ranges:
        raise _invalid(f"The features do not contain {METADATA_VERSION}.")
    for name in sorted(finalised.keys() - ranges.keys()):
        _check_level(name, finalised[name], VersionRange(0, 0))


def _check_level(name: str, level: int, levels: VersionRange) -> None:
    if level not in levels:
        text = f"{name} is at {level}, the broker supports {levels}."
        raise ApiError(ErrorCode.UNSUPPORTED_VERSION, text)


def _ranges(request: BrokerRegistrationRequest) -> dict[str, VersionRange]:
    return {feature.name: supported(feature) for feature in request.features}


def _record(
    request: BrokerRegistrationRequest, epoch: int, context: ControllerContext
) -> RegisterBrokerRecord:
    version = context.metadata_version
    return RegisterBrokerRecord(
        broker_id=request.broker_id,
        incarnation_id=request.incarnation_id,
        is_migrating_zk_broker=request.is_migrating_zk_broker,
        broker_epoch=epoch,
        end_points=endpoint_groups(BrokerEndpoint, request.listeners),
        features=feature_groups(BrokerFeature, _ranges(request).items()),
        rack=request.rack,
        fenced=True,
        log_dirs=request.log_dirs if version.supports_directory_assignment else (),
    )
