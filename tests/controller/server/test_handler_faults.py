"""A fault within a handler is answered, logged and counted; the connection and the node go on."""

import asyncio
import dataclasses
from collections.abc import AsyncIterator
from types import MappingProxyType
from typing import Any

import pytest

from kwire.codec.declaration import MetadataRecord
from kwire.controller.handlers import registry
from kwire.controller.handlers.result import (
    ControllerContext,
    ControllerEvent,
    ControllerResult,
    versioned,
)
from kwire.controller.server.metadata import metadata_runtime
from kwire.controller.server.node import ControllerNode
from kwire.controller.state_machine import quorum_controller
from kwire.error_codes import ErrorCode
from kwire.messages.a19_create_topics import (
    CreatableTopic,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from kwire.messages.a60_describe_cluster import DescribeClusterRequest
from kwire.messages.records.config import ConfigRecord
from kwire.messages.records.unregister_broker import UnregisterBrokerRecord
from kwire.net.connection import Connection
from kwire.net.service import ANONYMOUS
from kwire.testing.quorum import Quorum
from tests.support.controller.live.session.envelopes import send_enveloped
from tests.support.virtual_time import in_virtual_time

CREATION = CreateTopicsRequest(topics=[CreatableTopic(name="foo", num_partitions=1)])
CREATE_TOPICS = 19
FAULT = ErrorCode.UNKNOWN_SERVER_ERROR


def raises(*_: Any) -> ControllerResult:
    raise ZeroDivisionError("a fault of the handler")


def writes(record: MetadataRecord) -> Any:
    def handle(request: CreateTopicsRequest, context: ControllerContext) -> ControllerResult:
        return ControllerResult(response=CreateTopicsResponse(), records=(versioned(record),))

    return handle


def answers(response: CreateTopicsResponse) -> Any:
    def handle(request: CreateTopicsRequest, context: ControllerContext) -> ControllerResult:
        return ControllerResult(response=response)

    return handle


@pytest.fixture
def handled_by(monkeypatch: pytest.MonkeyPatch) -> Any:
    def replace(handle: Any) -> None:
        handler = dataclasses.replace(
            registry.HANDLERS[CREATE_TOPICS],
            handle=handle,
            event=lambda request, context: ControllerEvent.WRITE,
        )
        handlers = MappingProxyType({**registry.HANDLERS, CREATE_TOPICS: handler})
        for module in (quorum_controller, metadata_runtime):
            monkeypatch.setattr(module, "HANDLERS", handlers)

    return replace


@pytest.fixture
async def node() -> AsyncIterator[ControllerNode]:
    async with Quorum(1, metered=True) as quorum:
        yield await quorum.active_controller()


@pytest.mark.parametrize(
    "handle",
    [
        pytest.param(raises, id="raises"),
        pytest.param(writes(ConfigRecord(resource_name="x" * 40_000)), id="cannot be encoded"),
        pytest.param(writes(UnregisterBrokerRecord(broker_id=77)), id="does not fit"),
    ],
)
async def test_a_fault_is_answered_logged_and_counted(
    node: ControllerNode, handle: Any, handled_by: Any, caplog: pytest.LogCaptureFixture
) -> None:
    handled_by(handle)
    async with await Connection.open("127.0.0.1", node.config.listeners[0].port) as connection:
        direct = await connection.send(CREATION)
        forwarded = await send_enveloped(connection, CREATION, ANONYMOUS)
        assert await connection.send(DescribeClusterRequest()) is not None

    for answer in (direct, forwarded):
        assert isinstance(answer, CreateTopicsResponse)
        assert [topic.error_code for topic in answer.topics] == [FAULT]
        assert "its log has the reason" in (answer.topics[0].error_message or "")
    assert caplog.text.count("CreateTopics v7 from 127.0.0.1:") == 2
    assert caplog.text.count("Traceback") == 2
    assert node.requests is not None
    (errors,) = (family for family in node.requests.collect() if family.name.endswith("_errors"))
    labels = {"request": "CreateTopics", "error": "UNKNOWN_SERVER_ERROR"}
    counted = {s.value for s in errors.samples if s.labels == labels and s.name.endswith("total")}
    assert counted == {1.0}  # of the other one its broker's Envelope counts
    controller = node.metadata.controller
    assert controller.ahead.image == controller.committed.image
    assert controller.end_offset == node.raft.end_offset


async def test_an_answer_that_cannot_be_written_is_an_error(
    node: ControllerNode, handled_by: Any, caplog: pytest.LogCaptureFixture
) -> None:
    handled_by(answers(CreateTopicsResponse(throttle_time_ms=1 << 40)))
    async with await Connection.open("127.0.0.1", node.config.listeners[0].port) as connection:
        answer = await connection.send(CREATION)
        assert await connection.send(DescribeClusterRequest()) is not None

    assert isinstance(answer, CreateTopicsResponse)
    assert [topic.error_code for topic in answer.topics] == [FAULT]
    assert "an answer could not be written" in caplog.text


@in_virtual_time
async def test_after_a_fault_due_work_is_done_later(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async with Quorum(1) as quorum, asyncio.timeout(60):
        node = await quorum.active_controller()
        with monkeypatch.context() as patched:
            patched.setattr(node.metadata.controller, "begin_tick", raises)
            await asyncio.sleep(5)
        assert "due work failed" in caplog.text
        end = node.raft.end_offset
        # Every 500 ms there is a NoOpRecord.
        await node.metadata.until(lambda: node.metadata.offset > end)
