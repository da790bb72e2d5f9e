"""Runs the proxy's service: prints flows and events for a terminal, or logs for a supervisor."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from kwire.cli.errors import usage_errors
from kwire.cli.flows.display import Display, Selection
from kwire.cli.log_lines import escape_warnings
from kwire.cli.printer import Printer
from kwire.cli.proxy.hold_prompt import HoldPrompt
from kwire.cli.proxy.service_log import ServiceLog, log, logging_to_stderr
from kwire.cli.proxy.service_screen import ServiceScreen
from kwire.operating_system import raise_open_files_limit
from kwire.proxy import DecodedFlow, Notice
from kwire.proxy.service.config import LogLinesConfig, ProxyConfig, ShowConfig, read_config
from kwire.proxy.service.service import NodeBypassed, ProxyService

if TYPE_CHECKING:
    from kwire.proxy.serve.served_cluster import ServedCluster
    from kwire.proxy.service.events import ReportEvent
    from kwire.proxy.service.serving import ServeBackend


OTHER_FILES = 2000
"""Open files that a proxy may have beside its clients' connections."""


def run_file(file: Path) -> None:
    """Run the configuration of a file and log its events, until SIGTERM, which drains, or Ctrl-C.

    Raises WrongUsage for a file that cannot be used, also for rules and scripts that it names.
    """
    with usage_errors(end=""):
        config = read_config(file)
    lines = config.log or LogLinesConfig()
    with logging_to_stderr(lines.form, lines.level):
        _run_to_the_end(config, ServiceLog(), file)


def run_options(config: ProxyConfig) -> None:
    """Run the configuration of the options and print its events, until SIGTERM, which drains,
    Ctrl-C, or until nobody reads the output any more.

    Raises WrongUsage for rules, scripts and other files that cannot be used, and Exit with 1 if a
    recording stopped before its time.
    """
    escape_warnings()
    (cluster,) = config.clusters
    log_events = None if config.log is None else ServiceLog()
    service_screen = ServiceScreen(asks_on_hold=cluster.hold is not None, log=log_events)
    with ExitStack() as ending:
        if config.log is not None:
            ending.enter_context(logging_to_stderr(config.log.form, config.log.level))
        ending.callback(service_screen.end)
        _run_to_the_end(config, service_screen)
    if service_screen.has_failed:
        raise typer.Exit(1)


def _run_to_the_end(config: ProxyConfig, report: ReportEvent, file: Path | None = None) -> None:
    # Each connection takes two; others are for files, listeners and the connections of `serve`.
    raise_open_files_limit(2 * config.limits.connections * len(config.clusters) + OTHER_FILES)
    with usage_errors(end=""):  # of a file that an option or the configuration names
        asyncio.run(_run(config, report, file))


async def _run(config: ProxyConfig, report: ReportEvent, file: Path | None = None) -> None:
    """Run the service, and show flows if the configuration says so."""
    if config.show is None:
        simulate = _simulate_controller
        await ProxyService(config, report=report, file=file, simulate=simulate).run()
    else:
        await _run_shown(config, config.show, report, file)


async def _run_shown(
    config: ProxyConfig, show: ShowConfig, report: ReportEvent, file: Path | None
) -> None:
    """Run the service, print flows in a thread, and in the end their counts."""
    loop = asyncio.get_running_loop()
    display = _display(config, show)

    def view(seen: DecodedFlow | Notice) -> None:
        weight = (seen.flow if isinstance(seen, DecodedFlow) else seen).weight
        printer.put(lambda: display.show(seen), weight)

    def reader_has_gone() -> None:
        if file is None:
            loop.call_soon_threadsafe(service.stop)
        else:  # what a file configures goes on without a reader of its flows
            log.warning("the reader of the output has gone")

    service = ProxyService(
        config, report=report, view=view, file=file, simulate=_simulate_controller
    )
    if file is None and config.clusters[0].hold is not None:
        HoldPrompt(service.release).start()
    with Printer(reader_has_gone) as printer:
        try:
            await service.run()
        except (asyncio.CancelledError, NodeBypassed):
            printer.put(lambda: display.end(printer.dropped + service.dropped))
            raise
        printer.put(lambda: display.end(printer.dropped + service.dropped))


def _display(config: ProxyConfig, show: ShowConfig) -> Display:
    return Display(
        Selection(frozenset(show.api), frozenset(show.no_api), show.view),
        verbose=show.verbose,
        as_json=show.as_json,
        handling=any(cluster.serve is not None for cluster in config.clusters),
        secrets=show.show_secrets,
    )


def _simulate_controller(cluster: ServedCluster) -> ServeBackend:
    # kwire.controller takes long to load, and only this mode needs it.
    from kwire.cli.proxy.sandbox_backend import SandboxBackend

    return SandboxBackend(cluster)
