"""`kwire exporter`: metrics of a quorum and its cluster for Prometheus, without JMX."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from kwire.cli.cluster_options import TimeLimits, seconds_option
from kwire.cli.errors import WrongUsage, finite, usage_errors
from kwire.cli.event_loop import run
from kwire.cli.options import flag, option, reads_options
from kwire.cli.profiles import read_profile

if TYPE_CHECKING:
    from kwire.exporter.exporter import ExporterConfig

POLL_TIMEOUT = 10.0
"""Seconds; a leader that hangs is given up after half of them, and another one looked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PollLimits(TimeLimits):
    """The limits of time of a poll."""

    timeout: float | None = seconds_option(
        f"Give a poll up after so long. By default {POLL_TIMEOUT:g}."
    )


@reads_options
def exporter(
    *,
    bootstrap_controller: str | None = option(
        "--bootstrap-controller", metavar="HOST:PORT,...", help="Ask these controllers."
    ),
    bootstrap_server: str | None = option(
        "--bootstrap-server",
        metavar="HOST:PORT,...",
        help="Ask these brokers, for the metrics of the quorum alone.",
    ),
    command_config: Path | None = option(metavar="FILE", help="Client properties: TLS and SASL."),
    profile: str | None = option(
        "--profile", "-P", metavar="NAME", help="A cluster of `kwire profiles`."
    ),
    listen: str = option(
        default="127.0.0.1:9308", metavar="HOST:PORT", help="Serve /metrics here."
    ),
    interval: float = option(
        default=5.0, metavar="SECONDS", min=0.5, callback=finite, help="Poll the quorum so often."
    ),
    limits: PollLimits,
    min_insync_replicas: int = option(
        default=1, min=1, help="min.insync.replicas of the brokers' server.properties."
    ),
    topics: bool = flag("--topics", help="Also series for each topic."),
) -> None:
    """Serve the state of a quorum and cluster to Prometheus.

    It polls DescribeQuorum and follows the metadata log as an observer: no JMX is needed, and
    controllers are measured too. What is no longer known is not served; kafka_quorum_up is 0 then.
    /healthz and /readyz are for probes. docs/operators/exporter.md lists the metrics.

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
            timeouts=limits.chosen(settings, config, POLL_TIMEOUT),
            static_min_isr=min_insync_replicas,
            per_topic=topics,
        )
    )


def _run(config: ExporterConfig) -> None:
    import asyncio

    from kwire.cli.log_lines import log_to_stderr
    from kwire.exporter.exporter import Exporter
    from kwire.operating_system import TERMINATION, on_signal

    log_to_stderr()

    async def serve() -> None:
        ended = asyncio.Event()
        on_signal(TERMINATION, ended.set)
        await Exporter(config).run(ended)

    with usage_errors():
        run(serve())
