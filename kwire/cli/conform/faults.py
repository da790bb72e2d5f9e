"""`kwire conform --faults`: a workload under faults on a cluster that stands behind the proxy."""

from __future__ import annotations

import contextlib
from pathlib import Path

import typer

from kwire.cli.conform.options import ConformOptions
from kwire.cli.conform.run import claim, writing
from kwire.cli.errors import WrongUsage, usage_errors
from kwire.cli.event_loop import run
from kwire.cli.screen import screen
from kwire.errors import InvalidValue
from kwire.fault_lab.report import summary, write_report
from kwire.fault_lab.run import FaultRun, run_under_faults
from kwire.fault_lab.schedule import FaultSchedule, read_schedule
from kwire.fault_lab.topology import read_topology
from kwire.net.security import PLAINTEXT, Security
from kwire.testing.faulty_network.topology import FaultTopology


def run_faults(schedule_text: str, options: ConformOptions) -> None:
    """Run the schedule, show what came of it, exit with 1 for an anomaly. Raises WrongUsage."""
    if options.topology is None:
        raise WrongUsage(
            "--faults needs --topology FILE: the nodes' addresses, and those of the proxy that they"
            " advertise (docs/engineers/faults.md)."
        )
    with usage_errors():
        schedule = read_schedule(_text_of(schedule_text))
        topology = read_topology(options.topology)
    name = options.name or "faults"
    if options.report_folder is not None:
        with writing(options.report_folder):
            options.report_folder.mkdir(parents=True, exist_ok=True)
        claim(options.report_folder / f"{name}.md")
    ended = run(_run(schedule, topology, options, _security(options.settings.command_config)))
    command = _replay(schedule, options)
    for line in summary(ended, command):
        typer.echo(line)
    if options.report_folder is not None:
        for line in write_report(ended, options.report_folder, name, name, command):
            screen(stderr=True).print(line, style="dim", markup=False)
    if not ended.passed:
        raise typer.Exit(1)


async def _run(
    schedule: FaultSchedule, topology: FaultTopology, options: ConformOptions, security: Security
) -> FaultRun:
    progress = screen(stderr=True)
    return await run_under_faults(
        schedule,
        topology,
        security=security,
        allowed=frozenset(options.allow),
        progress=lambda text: progress.print(text, style="dim", markup=False),
    )


def _text_of(schedule: str) -> str:
    """Return the schedule, read from the file of that name if there is one."""
    from kwire.text.untrusted import read_text

    with contextlib.suppress(OSError):
        if "=" not in schedule and Path(schedule).is_file():
            return ",".join(read_text(Path(schedule), InvalidValue).split())
    return schedule


def _security(config: Path | None) -> Security:
    from kwire.cli.tls_options import client_security

    return client_security(config) if config else PLAINTEXT


def _replay(schedule: FaultSchedule, options: ConformOptions) -> str:
    allow = "".join(f" --allow {name}" for name in options.allow)
    return f"kwire conform --faults {schedule} --topology {options.topology}{allow}"
