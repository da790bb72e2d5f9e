"""BrokerRegistration and BrokerHeartbeat that are refused (KIP-631, KIP-858, KIP-866)."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

from kwire.conform.check import Check, CheckSection, gets, scenario
from kwire.conform.expectation import answers, expect_error
from kwire.conform.metadata_log import read_log
from kwire.conform.migration_ready import versions_with_readiness
from kwire.conform.own_broker import OwnBroker, registration
from kwire.conform.quorum import (
    DIRECTORIES,
    NOBODY,
    OTHER_CLUSTER,
    OTHER_DIRECTORY,
    demand_metadata_version,
    describe_quorum,
    leader_exchange,
)
from kwire.conform.server import Server
from kwire.conform.vocabulary import Need, SentenceSource, ServerRole, Skipped, kafka, kip
from kwire.error_codes import ErrorCode
from kwire.image.broker import BrokerRegistration
from kwire.messages.a62_broker_registration import BrokerRegistrationRequest, Feature
from kwire.messages.a63_broker_heartbeat import BrokerHeartbeatRequest
from kwire.messages.a64_unregister_broker import UnregisterBrokerRequest
from kwire.messages.a67_allocate_producer_ids import AllocateProducerIdsRequest
from kwire.messages.a73_assign_replicas_to_dirs import AssignReplicasToDirsRequest, DirectoryData

SECTION = CheckSection("registration/brokers", "Brokers that may not register")

_REGISTER = kip(631, "BrokerRegistration")
_HANDLER = kafka("ClusterControlManager.registerBroker")
_DIRECTORIES = 2
"""The first version of BrokerRegistration with log directories."""


async def _ask(server: Server, codes: tuple[int, ...], **changes: Any) -> None:
    """Register wrongly under an id of the check's own, and demand that it is refused.

    Nothing else may ever be unregistered here: a broker that is up does not register again.
    """
    quorum = await describe_quorum(server)
    request = await registration(server, quorum)
    own_id = request.broker_id
    request = request.replace(**changes)
    assert request.broker_id == own_id, "a registered broker's id is nobody's to use"
    answer = await server.ask(request)
    if answer.error_code == ErrorCode.NONE:
        await server.ask(UnregisterBrokerRequest(broker_id=own_id))
    expect_error(answer, *codes)


def _refused(
    sentence: str, source: SentenceSource, *codes: int, since: int = 0, **changes: Any
) -> Check:
    @scenario(gets(sentence, *codes), source, role=ServerRole.CONTROLLER)
    async def run(server: Server) -> None:
        connection = await server.connection()
        connection.demand(BrokerRegistrationRequest, since)
        if since == _DIRECTORIES:
            await demand_metadata_version(connection, DIRECTORIES)
        await _ask(server, codes, **changes)

    return run


async def _registered(server: Server) -> BrokerRegistration:
    """Return a broker that is up. Raises Skipped."""
    for broker in (await read_log(server)).image.cluster.brokers.values():
        if not broker.fenced:
            return broker
    raise Skipped("the cluster has no broker")


SECTION[1] = _refused(
    "A broker of another cluster gets",
    _REGISTER,
    ErrorCode.INCONSISTENT_CLUSTER_ID,
    cluster_id=OTHER_CLUSTER,
)


@SECTION.refuses(
    2,
    _REGISTER,
    ErrorCode.DUPLICATE_BROKER_REGISTRATION,
    role=ServerRole.CONTROLLER,
    needs=Need.THROW_AWAY,
    alone=True,
)
async def _(server: Server) -> Any:
    """Another incarnation of a broker that is up gets"""
    # A broker of the check's own: one that serves could lose its registration to this request.
    broker = await OwnBroker.register(server)
    again = broker.request.replace(incarnation_id=uuid4())
    return await server.ask(again)


SECTION[3] = _refused(
    "A broker that names no metadata.version is refused.",
    # UNSUPPORTED_VERSION up to Kafka 3.9, INVALID_REGISTRATION since.
    _HANDLER,
    ErrorCode.UNSUPPORTED_VERSION,
    ErrorCode.INVALID_REGISTRATION,
    features=[],
)
SECTION[4] = _refused(
    "A broker without log directories gets INVALID_REGISTRATION or INVALID_REQUEST.",
    kip(858, "BrokerRegistration"),
    ErrorCode.INVALID_REGISTRATION,
    ErrorCode.INVALID_REQUEST,
    since=_DIRECTORIES,
    log_dirs=(),
)


@SECTION.check(5, kip(858, "BrokerRegistration"), role=ServerRole.CONTROLLER)
async def _(server: Server) -> None:
    """A log directory that another broker has gets INVALID_REGISTRATION or INVALID_REQUEST."""
    (await server.connection()).demand(BrokerRegistrationRequest, _DIRECTORIES)
    broker = await _registered(server)
    if not broker.directories:
        raise Skipped("the metadata.version is below 3.7, where brokers have no directories")
    await _ask(
        server,
        (ErrorCode.INVALID_REGISTRATION, ErrorCode.INVALID_REQUEST),
        log_dirs=tuple(broker.directories),
    )


SECTION[6] = _refused(
    "A broker with a reserved directory id gets INVALID_REGISTRATION or INVALID_REQUEST.",
    kip(858, "BrokerRegistration"),
    ErrorCode.INVALID_REGISTRATION,
    ErrorCode.INVALID_REQUEST,
    since=_DIRECTORIES,
    log_dirs=(UUID(int=1),),
)


@SECTION.check(7, kip(866, "BrokerRegistration"), role=ServerRole.CONTROLLER)
async def _(server: Server) -> None:
    """A broker that says of itself that it migrates is refused where nothing does."""
    (await server.connection()).demand(BrokerRegistrationRequest, 1)
    if (await versions_with_readiness(server)).zk_migration_ready:
        raise Skipped("the controller is ready to migrate: it would wait for that broker")
    await _ask(
        server,
        (ErrorCode.BROKER_ID_NOT_REGISTERED, ErrorCode.INVALID_REQUEST),
        is_migrating_zk_broker=True,
    )


SECTION[8] = leader_exchange(
    "A heartbeat of a broker that is not registered is refused.",
    kip(631, "BrokerHeartbeat"),
    send=lambda quorum: BrokerHeartbeatRequest(
        broker_id=NOBODY, broker_epoch=1, current_metadata_offset=1
    ),
    expect=answers(ErrorCode.STALE_BROKER_EPOCH) | answers(ErrorCode.BROKER_ID_NOT_REGISTERED),
)


@SECTION.refuses(
    9, kip(631, "BrokerHeartbeat"), ErrorCode.STALE_BROKER_EPOCH, role=ServerRole.CONTROLLER
)
async def _(server: Server) -> Any:
    """A heartbeat of an earlier registration gets"""
    broker = await _registered(server)
    beat = BrokerHeartbeatRequest(
        broker_id=broker.id, broker_epoch=broker.epoch - 1, current_metadata_offset=1
    )
    return await server.ask(beat)


SECTION[10] = leader_exchange(
    "A broker that is not registered gets no producer ids.",
    kip(730, "AllocateProducerIds"),
    send=lambda quorum: AllocateProducerIdsRequest(broker_id=NOBODY, broker_epoch=1),
    expect=answers(ErrorCode.STALE_BROKER_EPOCH),
)


@SECTION.refuses(
    11, kip(730, "AllocateProducerIds"), ErrorCode.STALE_BROKER_EPOCH, role=ServerRole.CONTROLLER
)
async def _(server: Server) -> Any:
    """AllocateProducerIds of an earlier registration gets"""
    broker = await _registered(server)
    request = AllocateProducerIdsRequest(broker_id=broker.id, broker_epoch=broker.epoch - 1)
    return await server.ask(request)


@SECTION.refuses(
    12,
    kip(858, "AssignReplicasToDirs"),
    ErrorCode.STALE_BROKER_EPOCH,
    ErrorCode.UNSUPPORTED_VERSION,
    role=ServerRole.CONTROLLER,
)
async def _(server: Server) -> Any:
    """AssignReplicasToDirs of an earlier registration gets"""
    (await server.active_controller()).demand(AssignReplicasToDirsRequest)
    broker = await _registered(server)
    request = AssignReplicasToDirsRequest(
        broker_id=broker.id,
        broker_epoch=broker.epoch - 1,
        directories=[DirectoryData(id=OTHER_DIRECTORY)],
    )
    return await server.ask(request)


SECTION[13] = _refused(
    "A broker that does not support the finalized metadata.version is refused.",
    kip(584, "Feature gating"),
    ErrorCode.UNSUPPORTED_VERSION,
    features=[
        Feature(name="metadata.version", min_supported_version=32_000, max_supported_version=32_000)
    ],
)
