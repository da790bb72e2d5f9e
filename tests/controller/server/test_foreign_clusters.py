"""A controller that is sent to another cluster says so, and so does the one that it asks."""

import asyncio
import logging
from datetime import UTC, datetime
from pathlib import Path

import pytest

from kwire.controller.server.config.node_config import NodeConfig
from kwire.controller.server.foreign_clusters import MOST, ForeignClusters
from kwire.controller.server.node import ControllerNode
from kwire.logdir.format import FormatOptions, plan, write
from kwire.messages.a01_fetch import FetchRequest
from kwire.testing.quorum import Quorum
from real_kafka import free_port


class Warnings(logging.Handler):
    """Sets an event when both sides have warned."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.texts: list[str] = []
        self.both = asyncio.Event()

    def emit(self, record: logging.LogRecord) -> None:
        self.texts.append(record.getMessage())
        if len(self.texts) >= 2:
            self.both.set()


async def test_both_sides_name_both_clusters_once(tmp_path: Path) -> None:
    warnings = Warnings()
    logger = logging.getLogger("kwire.controller.server.foreign_clusters")
    logger.addHandler(warnings)
    try:
        async with Quorum(1) as quorum:
            address = f"CONTROLLER://127.0.0.1:{free_port()}"
            config = NodeConfig.of(
                {
                    "process.roles": "controller",
                    "node.id": "7",
                    "log.dirs": str(tmp_path / "data"),
                    "listeners": address,
                    "controller.listener.names": "CONTROLLER",
                    "controller.quorum.bootstrap.servers": quorum.bootstrap_controllers,
                    "controller.quorum.fetch.timeout.ms": "200",
                }
            )
            options = FormatOptions(cluster_id="another", no_initial_controllers=True)
            write(plan(config.storage, options), datetime.now(UTC))
            async with ControllerNode(config), asyncio.timeout(60):
                await warnings.both.wait()
    finally:
        logger.removeHandler(warnings)

    asked = [text for text in warnings.texts if "asks for cluster another" in text]
    refused = [
        text for text in warnings.texts if text.startswith("controller 7 of cluster another")
    ]
    assert len(asked) == len(refused) == 1
    assert f"of cluster {quorum.cluster_id}:" in asked[0]
    assert f"{quorum.bootstrap_controllers} is of cluster {quorum.cluster_id}" in refused[0]


def test_made_up_clusters_do_not_fill_the_log(caplog: pytest.LogCaptureFixture) -> None:
    foreign = ForeignClusters(node_id=1, cluster_id="own")
    for number in range(3 * MOST):
        for _ in range(2):
            foreign.warn_of_request(FetchRequest(cluster_id=f"c{number}"), ("127.0.0.1", 1))
    foreign.warn_of_request(FetchRequest(cluster_id="own"), ("127.0.0.1", 1))
    foreign.warn_of_request(FetchRequest(cluster_id=None), ("127.0.0.1", 1))

    assert len(caplog.records) == MOST
