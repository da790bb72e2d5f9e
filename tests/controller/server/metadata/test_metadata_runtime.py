"""A controller that stops to lead while it works on a request refuses it, and goes on."""

import asyncio
import itertools
from dataclasses import replace
from typing import Any

import pytest

from kwire.codec.declaration import Request
from kwire.controller.raft import Resign
from kwire.controller.server.node import ControllerNode
from kwire.controller.state_machine.quorum_controller import PendingResponse
from kwire.error_codes import ErrorCode
from kwire.messages.a44_incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from kwire.messages.config_resource import ConfigResource, ResourceType
from kwire.migration.driver.rules import MigrationRules
from kwire.net.connection import Connection
from kwire.net.service import RequestContext
from kwire.testing.quorum import Quorum
from tests.support.virtual_time import in_virtual_time
from virtual_nodes.virtual_network import NetworkLoop

FETCH_TIMEOUT = 0.5
"""Seconds; a leader resigns when a majority has not fetched for half as long again."""

PATIENCE = 60.0
PROPERTIES = {
    "controller.quorum.election.timeout.ms": "200",
    "controller.quorum.fetch.timeout.ms": str(int(FETCH_TIMEOUT * 1000)),
    "controller.quorum.request.timeout.ms": "2000",
}
ALL_BROKERS = ConfigResource(ResourceType.BROKER, "")
RETENTION = "log.retention.ms"


@pytest.fixture
def quorum() -> Quorum:
    return Quorum(3, properties=PROPERTIES)


async def write(quorum: Quorum, node: ControllerNode, value: int) -> int:
    """Set a configuration of all brokers at a node; return the error code of the answer."""
    config = AlterableConfig(name=RETENTION, value=str(value))
    resource = AlterConfigsResource(
        resource_type=ALL_BROKERS.type, resource_name=ALL_BROKERS.name, configs=[config]
    )
    host, port = quorum.addresses[node.node_id]
    async with await Connection.open(host, port, request_timeout=PATIENCE) as connection:
        answer = await connection.send(IncrementalAlterConfigsRequest(resources=[resource]))
    assert isinstance(answer, IncrementalAlterConfigsResponse)
    return answer.responses[0].error_code


def work_slowly(node: ControllerNode, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the node's next write take so long that its leadership is over when it is appended."""
    controller, loop = node.metadata.controller, asyncio.get_running_loop()
    assert isinstance(loop, NetworkLoop)
    handle = controller.handle

    def handle_slowly(request: Request, origin: RequestContext, **moment: Any) -> PendingResponse:
        answer = handle(request, origin, **moment)
        if isinstance(request, IncrementalAlterConfigsRequest):
            # Nothing in this process is served meanwhile.
            loop.current.stand_still(loop.now, 2 * FETCH_TIMEOUT)
        return answer

    monkeypatch.setattr(controller, "handle", handle_slowly)


@in_virtual_time
async def test_a_write_that_outlasts_the_leadership_is_refused(
    quorum: Quorum, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The event that appends the records also finds the majority silent, and resigns."""
    async with asyncio.timeout(PATIENCE):
        leader = await quorum.active_controller()
        work_slowly(leader, monkeypatch)
        assert await write(quorum, leader, 1) == ErrorCode.NOT_CONTROLLER
        assert not leader.metadata.is_active


@in_virtual_time
async def test_a_leader_that_resigned_within_a_write_leads_again_and_answers_writes(
    quorum: Quorum, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with asyncio.timeout(PATIENCE):
        former = await quorum.active_controller()
        with monkeypatch.context() as patched:
            work_slowly(former, patched)
            await write(quorum, former, 1)
        for value in itertools.count(2):
            leader = await quorum.active_controller()
            code = await write(quorum, leader, value)
            if leader is former and code == ErrorCode.NONE:
                break
            if leader is not former:
                await leader.stop()
                await quorum.start_node(leader.node_id)
        configs = former.metadata.image.configs.of(*ALL_BROKERS)
        assert configs[RETENTION] == str(value)


@in_virtual_time
async def test_a_leader_whose_settings_do_not_fit_the_log_resigns_until_they_do(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Java's process ends; here another controller, with other settings, can lead (KIP-866)."""
    async with Quorum(1, properties=PROPERTIES) as quorum, asyncio.timeout(PATIENCE):
        node = await quorum.active_controller()
        controller = node.metadata.controller
        fitting = controller.config
        controller.config = replace(fitting, rules=MigrationRules(True))
        epoch = node.raft.epoch
        node.runtime.feed(Resign(epoch=epoch))

        while "resigns: zookeeper.metadata.migration.enable is true, but the" not in caplog.text:
            assert not node.metadata.is_active
            await asyncio.sleep(0.05)
        controller.config = fitting

        await node.metadata.until(lambda: node.metadata.is_active)
        assert node.raft.epoch > epoch
