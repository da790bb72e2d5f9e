"""Whole answers of the active controller to brokers and controllers."""

from __future__ import annotations

from typing import Any

from kwire.conform.check import CheckSection
from kwire.conform.checks.partitions.own_partition import own_partition
from kwire.conform.expectation import expect_equal
from kwire.conform.metadata_log import FetchedLog, read_log
from kwire.conform.own_broker import OwnBroker
from kwire.conform.quorum import OTHER_DIRECTORY
from kwire.conform.server import Server
from kwire.conform.vocabulary import Need, ServerRole, schema
from kwire.conform.whole_answer import (
    POSITIVE,
    expect_in_each_version,
    expect_whole,
    filled,
    mirrored,
    one_of,
)
from kwire.error_codes import ErrorCode
from kwire.messages import (
    AllocateProducerIdsRequest,
    AlterPartitionRequest,
    AssignReplicasToDirsRequest,
    BrokerHeartbeatRequest,
    ControllerRegistrationRequest,
)
from kwire.messages.a70_controller_registration import Listener

SECTION = CheckSection("answers/controllers", "The active controller, asked by nodes")

_CONTROLLER = ServerRole.CONTROLLER
_BY_ID, _WITH_EPOCHS = 2, 3
"""The first versions of AlterPartition with topic ids, and with the epochs of brokers."""


@SECTION.check(1, schema("AlterPartitionResponse"), role=_CONTROLLER, needs=Need.RESOURCES)
async def _(server: Server) -> None:
    """AlterPartition has the partition as it then is, in every version by id."""
    brokers = [(await OwnBroker.register(server)).id for _ in range(2)]
    own = await own_partition(server, *brokers)
    connection = await server.active_controller()
    for version in connection.offered(AlterPartitionRequest, since=_BY_ID):
        isr = (own.state.leader,)
        request = own.alter(isr=isr)
        if version < _WITH_EPOCHS:
            [part] = request.topics[0].partitions
            part.new_isr, part.new_isr_with_epochs = isr, []
        answer = await connection.ask(request, version)
        own = await own.read()
        now = {
            "leader_id": own.state.leader,
            "leader_epoch": own.state.leader_epoch,
            "isr": isr,
            "leader_recovery_state": own.state.leader_recovery_state,
            "partition_epoch": own.state.partition_epoch,
        }
        topic = {"topic_id": own.topic_id, "partitions": [now]}
        expect_whole(answer, {"topics": [topic]}, version)


@SECTION.check(2, schema("BrokerHeartbeatResponse"), role=_CONTROLLER, needs=Need.RESOURCES)
async def _(server: Server) -> None:
    """BrokerHeartbeat tells what a broker is: fenced and behind, then neither, in every version."""
    for caught_up in (False, True):
        broker = await OwnBroker.register(server, unfenced=caught_up)
        request = BrokerHeartbeatRequest(
            broker_id=broker.id,
            broker_epoch=broker.epoch,
            current_metadata_offset=(1 << 40) if caught_up else 0,
            want_fence=not caught_up,
        )
        expected = {"is_caught_up": caught_up, "is_fenced": not caught_up}
        await expect_in_each_version(await server.active_controller(), request, expected)


@SECTION.check(3, schema("AllocateProducerIdsResponse"), role=_CONTROLLER, needs=Need.RESOURCES)
async def _(server: Server) -> None:
    """AllocateProducerIds gives a new block, which ends where the next begins by the log."""
    broker = await OwnBroker.register(server)
    request = AllocateProducerIdsRequest(broker_id=broker.id, broker_epoch=broker.epoch)
    log = await read_log(server)
    for version in (await server.active_controller()).offered(type(request)):
        first = log.image.producer_ids.next_producer_id
        answer = await server.ask(request, version)
        log = await read_log(server)
        ends = {
            step.after.producer_ids.next_producer_id - answer.producer_id_len for step in log.steps
        }
        starts = one_of(*[start for start in sorted(ends) if start >= first])
        expected = {"producer_id_start": starts, "producer_id_len": POSITIVE}
        expect_whole(answer, expected, version)


@SECTION.check(4, schema("AssignReplicasToDirsResponse"), role=_CONTROLLER, needs=Need.RESOURCES)
async def _(server: Server) -> None:
    """AssignReplicasToDirs answers each partition once, under its topic and its directory."""
    broker = await OwnBroker.register(server)
    own, topic = {"id": broker.directory}, {"topic_id": OTHER_DIRECTORY}
    part = {"partition_index": 1}
    refused = {**part, "error_code": ErrorCode.UNKNOWN_TOPIC_ID}
    asked = {**own, "topics": [{**topic, "partitions": [part]}]}
    answered = {**own, "topics": [{**topic, "partitions": [refused]}]}
    request = filled(
        AssignReplicasToDirsRequest,
        broker_id=broker.id,
        broker_epoch=broker.epoch,
        directories=[asked],
    )
    expected = {"directories": [answered]}
    await expect_in_each_version(await server.active_controller(), request, expected)


@SECTION.check(5, schema("ControllerRegistrationResponse"), role=_CONTROLLER, needs=Need.THROW_AWAY)
async def _(server: Server) -> None:
    """ControllerRegistration of a controller as it is registered is accepted."""
    log = await read_log(server)
    before = _registrations(log)
    for known in log.image.cluster.controllers.values():
        record: Any = known.record().record
        listeners = [mirrored(Listener, end) for end in record.end_points]
        request = mirrored(ControllerRegistrationRequest, record, listeners=listeners)
        await expect_in_each_version(log.quorum.connection, request, {})
    expect_equal("registrations", _registrations(await read_log(server)), before)


def _registrations(log: FetchedLog) -> dict[int, Any]:
    return {id: known.record() for id, known in log.image.cluster.controllers.items()}
