"""Controllers in the foreground, until SIGTERM or Ctrl-C ends them in order."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterable
from contextlib import AbstractAsyncContextManager, nullcontext
from pathlib import Path

from kwire.cli.cluster_ports import broker_ports, controller_ports
from kwire.cli.controller.options import QuorumOptions
from kwire.cli.errors import CommandFailed, WrongUsage
from kwire.cli.log_lines import log_to_stderr
from kwire.cli.screen import print_json, screen
from kwire.cli.storage import first_credentials
from kwire.controller.server.config.node_config import NodeConfig
from kwire.controller.server.metrics import NodesCollector
from kwire.controller.server.node import ControllerNode
from kwire.errors import InvalidValue
from kwire.migration.node.extension import MigrationExtension
from kwire.net.address import Address
from kwire.net.metrics_server import MetricsServer
from kwire.operating_system import TERMINATION, on_signal
from kwire.testing.local_brokers import LocalBrokers
from kwire.testing.quorum import FIRST_ID, Quorum
from kwire.testing.quorum_members import OWN_PROPERTIES
from kwire.text.properties import is_password, read_properties


def run_node(file: Path, metrics: str | None) -> None:
    """Run one controller from its server.properties. metrics: `host:port` to serve them at."""
    address = _metrics_address(metrics)
    config = NodeConfig.read(file)
    try:
        extension = MigrationExtension.of(config)
    except InvalidValue as error:
        raise InvalidValue(f"{file}: {error}") from None
    _print_unknown(config, extension)
    _print_migration(extension)
    log_to_stderr()
    asyncio.run(_run_node(config, extension, address))


async def _run_node(
    config: NodeConfig, extension: MigrationExtension, address: Address | None
) -> None:
    ended = _terminated()
    node = ControllerNode(config, metered=address is not None, extension=extension)
    async with _metrics(address, lambda: [node]), node:
        await _until_ended(ended, [node])


async def _until_ended(ended: asyncio.Event, nodes: Iterable[ControllerNode]) -> None:
    """Wait for SIGTERM, or until a node cannot go on; raise why, as StorageFailed."""
    waits = [asyncio.create_task(node.failed()) for node in nodes]
    waits.append(asyncio.create_task(_set(ended)))
    try:
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()
    # Several may have failed: the first error is raised, and the others are not printed as lost.
    for error in await asyncio.gather(*waits, return_exceptions=True):
        if isinstance(error, Exception):
            raise error


async def _set(event: asyncio.Event) -> None:
    await event.wait()


def run_quorum(options: QuorumOptions) -> None:
    """Run a quorum of controllers."""
    address = _metrics_address(options.metrics)
    folder = options.folder
    if folder is not None and any(folder.glob("node-*")):
        raise CommandFailed(f"{folder} has nodes already: give an empty folder")
    if not options.brokers and (options.kafka or options.kafka_version):
        raise WrongUsage("--kafka and --kafka-version are about brokers: add --brokers N.")
    properties = _properties(options.properties, options.property)
    scram = first_credentials(options.add_scram_file)
    log_to_stderr()
    console = screen(stderr=True)
    brokers = LocalBrokers(
        options.brokers,
        properties=properties,
        version=options.kafka_version,
        kafka=options.kafka,
        ports=broker_ports(options.ports, options.brokers),
        progress=lambda text: console.print(text, style="dim"),
    )
    quorum = Quorum(
        options.size,
        folder=folder,
        release=options.release_version,
        metered=address is not None,
        ports=controller_ports(options.ports, options.size),
        properties=properties,
        scram=scram,
        brokers=brokers,
        network=False,
        extension_of=MigrationExtension.of,
    )
    try:
        config = quorum.node_config(FIRST_ID)
        extension = MigrationExtension.of(config)
    except InvalidValue as error:
        asyncio.run(quorum.stop())
        raise WrongUsage(f"--property: {error}.") from None
    _print_unknown(config, extension)
    asyncio.run(_run_quorum(quorum, address, as_json=options.as_json))


async def _run_quorum(quorum: Quorum, address: Address | None, *, as_json: bool) -> None:
    ended = _terminated()
    run = asyncio.current_task()
    assert run is not None
    starting = asyncio.create_task(_cancel_at(ended, run))
    try:
        async with _metrics(address, lambda: quorum.nodes.values()), quorum:
            starting.cancel()
            _print_addresses(quorum, as_json=as_json)
            await _until_ended(ended, quorum.nodes.values())
    except asyncio.CancelledError:
        if not ended.is_set():  # Ctrl-C
            raise
    finally:
        starting.cancel()


async def _cancel_at(ended: asyncio.Event, run: asyncio.Task[object]) -> None:
    """Cancel a start that SIGTERM interrupts: brokers may take minutes."""
    await ended.wait()
    run.cancel()


def _print_addresses(quorum: Quorum, *, as_json: bool) -> None:
    brokers = {str(id): str(address) for id, address in quorum.brokers.addresses.items()}
    if as_json:
        controllers = {str(id): f"{h}:{p}" for id, (h, p) in quorum.advertised.items()}
        value = {
            "clusterId": quorum.cluster_id,
            "bootstrapControllers": quorum.bootstrap_controllers,
            "bootstrapServers": quorum.bootstrap_servers or None,
            "controllers": controllers,
            "brokers": brokers,
        }
        print_json(value)
        sys.stdout.flush()
        return
    console = screen()
    console.print(f"cluster.id={quorum.cluster_id}")
    console.print(f"controller.quorum.bootstrap.servers={quorum.bootstrap_controllers}")
    console.print("controller.listener.names=CONTROLLER")
    if brokers:
        console.print(f"bootstrap.servers={quorum.bootstrap_servers}")
    console.file.flush()


def _properties(file: Path | None, texts: list[str]) -> dict[str, str]:
    """Read the settings of --properties and --property, which come before those of the file."""
    pairs: dict[str, str] = {} if file is None else read_properties(file)
    for text in texts:
        name, equals, value = map(str.strip, text.partition("="))
        if not equals or not name:
            raise WrongUsage("--property: write NAME=VALUE, as super.users=User:admin.")
        if is_password(name):
            raise WrongUsage(
                f"--property: {name} is secret, and every user of this machine sees arguments:"
                " write it to a file, and give --properties FILE."
            )
        pairs[name] = value
    for name in pairs:
        if name in OWN_PROPERTIES:
            raise WrongUsage(f"--property: every node has its own {name}.")
    return pairs


def _print_unknown(config: NodeConfig, extension: MigrationExtension) -> None:
    if unknown := [name for name in config.unknown if name not in extension.known]:
        screen(stderr=True).print(f"not taken by kwire: {', '.join(unknown)}", style="yellow")


def _print_migration(extension: MigrationExtension) -> None:
    if extension.config is not None:
        screen(stderr=True).print(
            f"migrates from ZooKeeper at {extension.config.zookeeper.connect}: this is for"
            " laboratories, and for tests of migrations; migrate what you need with the controllers"
            " of Kafka 3.9",
            style="yellow",
        )


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
