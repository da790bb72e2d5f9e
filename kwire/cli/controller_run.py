"""Controllers in the foreground, until SIGTERM or Ctrl-C ends them in order."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from contextlib import AbstractAsyncContextManager, nullcontext
from pathlib import Path

from kwire.cli.errors import CommandFailed, WrongUsage
from kwire.cli.screen import screen
from kwire.controller.server.config.node_config import NodeConfig
from kwire.controller.server.metrics import NodesCollector
from kwire.controller.server.node import ControllerNode
from kwire.controller.server.quorum import Quorum
from kwire.errors import InvalidValue
from kwire.net.address import Address
from kwire.net.metrics_server import MetricsServer
from kwire.operating_system import TERMINATION, on_signal


def run_node(file: Path, metrics: str | None) -> None:
    """Run one controller from its server.properties. metrics: `host:port` to serve them at."""
    address = _metrics_address(metrics)
    config = NodeConfig.read(file)
    if config.unknown:
        screen(stderr=True).print(
            f"not taken by kwire: {', '.join(config.unknown)}", style="yellow"
        )
    _log_to_stderr()
    asyncio.run(_run_node(config, address))


async def _run_node(config: NodeConfig, address: Address | None) -> None:
    ended = _terminated()
    node = ControllerNode(config, metered=address is not None)
    async with _metrics(address, lambda: [node]), node:
        failed = asyncio.create_task(node.failed())
        stopped = asyncio.create_task(ended.wait())
        try:
            await asyncio.wait([failed, stopped], return_when=asyncio.FIRST_COMPLETED)
            if failed.done():
                failed.result()
        finally:
            failed.cancel()
            stopped.cancel()


def run_quorum(size: int, folder: Path | None, release: str | None, metrics: str | None) -> None:
    """Run a quorum of controllers. metrics: `host:port` to serve those of all of them at."""
    address = _metrics_address(metrics)
    if folder is not None and any(folder.glob("node-*")):
        raise CommandFailed(f"{folder} has nodes already: give an empty folder")
    _log_to_stderr()
    quorum = Quorum(size, folder=folder, release=release, metered=address is not None)
    asyncio.run(_run_quorum(quorum, address))


async def _run_quorum(quorum: Quorum, address: Address | None) -> None:
    ended = _terminated()
    async with _metrics(address, lambda: quorum.nodes.values()), quorum:
        console = screen()
        console.print(f"cluster.id={quorum.cluster_id}")
        console.print(f"controller.quorum.bootstrap.servers={quorum.bootstrap_controllers}")
        console.print("controller.listener.names=CONTROLLER")
        console.file.flush()
        await ended.wait()


def _metrics_address(metrics: str | None) -> Address | None:
    try:
        return None if metrics is None else Address.parse(metrics)
    except InvalidValue as error:
        raise WrongUsage(f"--metrics: {error}.") from error


def _metrics(
    address: Address | None, nodes: Callable[[], Iterable[ControllerNode]]
) -> AbstractAsyncContextManager[object]:
    """Serve the metrics around the nodes, so that a taken port fails before any node starts."""
    if address is None:
        return nullcontext()
    return MetricsServer(NodesCollector(nodes), address.host, address.port)


def _terminated() -> asyncio.Event:
    """Return an event that SIGTERM sets, so that a leader can hand over; Ctrl-C cancels instead."""
    ended = asyncio.Event()
    on_signal(TERMINATION, ended.set)
    return ended


def _log_to_stderr() -> None:
    form = "%(asctime)s %(levelname)s %(name)s: %(message)s"
    logging.basicConfig(level=logging.INFO, format=form)
