"""`kwire exporter`: metrics of a quorum and its cluster for Prometheus, without JMX."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kwire.cli.cluster_options import TIMEOUTS, chosen_timeouts
from kwire.cli.errors import WrongUsage, finite
from kwire.cli.event_loop import run
from kwire.cli.metadata_sources import ConnectTimeout, RequestTimeout
from kwire.cli.profiles import read_profile

if TYPE_CHECKING:
    from kwire.exporter.exporter import ExporterConfig

POLL_TIMEOUT = 10.0
"""Seconds; a leader that hangs is given up after half of them, and another one looked for."""


def exporter(
    bootstrap_controller: Annotated[
        str | None,
        typer.Option(
            "--bootstrap-controller", metavar="HOST:PORT,...", help="Ask these controllers."
        ),
    ] = None,
    bootstrap_server: Annotated[
        str | None,
        typer.Option(
            "--bootstrap-server",
            metavar="HOST:PORT,...",
            help="Ask these brokers, for the metrics of the quorum alone.",
        ),
    ] = None,
    command_config: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Client properties: TLS and SASL.")
    ] = None,
    profile: Annotated[
        str | None,
        typer.Option("--profile", "-P", metavar="NAME", help="A cluster of `kwire profiles`."),
    ] = None,
    listen: Annotated[
        str, typer.Option(metavar="HOST:PORT", help="Serve /metrics here.")
    ] = "127.0.0.1:9308",
    interval: Annotated[
        float,
        typer.Option(metavar="SECONDS", min=0.5, callback=finite, help="Poll the quorum so often."),
    ] = 5.0,
    timeout: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            min=0.1,
            callback=finite,
            show_default=False,
            help=f"Give a poll up after so long. By default {POLL_TIMEOUT:g}.",
        ),
    ] = None,
    connect_timeout: ConnectTimeout = None,
    request_timeout: RequestTimeout = None,
    min_insync_replicas: Annotated[
        int, typer.Option(min=1, help="min.insync.replicas of the brokers' server.properties.")
    ] = 1,
    topics: Annotated[bool, typer.Option("--topics", help="Also series for each topic.")] = False,
) -> None:
    """Serve the state of a quorum and cluster to Prometheus.

    It polls DescribeQuorum and follows the metadata log as an observer: no JMX is needed, and
    controllers are measured too. What is no longer known is not served; kafka_quorum_up is 0 then.
    /healthz and /readyz are for probes. docs/exporter.md lists the metrics.

    \b
    kwire exporter --bootstrap-controller c1:9093,c2:9093,c3:9093 --listen 0.0.0.0:9308
    """
    from kwire.cli.tls_options import client_security
    from kwire.errors import InvalidValue
    from kwire.exporter.exporter import ExporterConfig
    from kwire.net.address import Address
    from kwire.net.security import PLAINTEXT

    settings = read_profile(profile)
    if not bootstrap_server and not bootstrap_controller:
        bootstrap_server, bootstrap_controller = settings.bootstrap(controllers_first=True)
    if bool(bootstrap_server) == bool(bootstrap_controller):
        raise WrongUsage("give --bootstrap-controller, --bootstrap-server or --profile.")
    config = command_config or settings.command_config
    limits = dict(zip(TIMEOUTS, (timeout, connect_timeout, request_timeout), strict=True))
    try:
        address = Address.parse(listen)
    except InvalidValue as error:
        raise WrongUsage(f"--listen: {error}.") from error
    _run(
        ExporterConfig(
            listen=address,
            bootstrap_servers=bootstrap_server,
            bootstrap_controllers=bootstrap_controller,
            security=PLAINTEXT if config is None else client_security(config),
            interval=interval,
            timeouts=chosen_timeouts(limits, settings, config, POLL_TIMEOUT),
            static_min_isr=min_insync_replicas,
            per_topic=topics,
        )
    )


def _run(config: ExporterConfig) -> None:
    import asyncio

    from kwire.cli.log_lines import log_to_stderr
    from kwire.errors import InvalidValue
    from kwire.exporter.exporter import Exporter
    from kwire.operating_system import TERMINATION, on_signal

    log_to_stderr()

    async def serve() -> None:
        ended = asyncio.Event()
        on_signal(TERMINATION, ended.set)
        await Exporter(config).run(ended)

    try:
        run(serve())
    except InvalidValue as error:
        raise WrongUsage(f"{error}.") from error
