"""`kwire migration plan`: the properties of each node in each step, as files or on the screen."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from kwire.cli.confirm import YES, confirm
from kwire.cli.errors import CommandFailed, WrongUsage
from kwire.cli.event_loop import run
from kwire.cli.migration.options import MigrationOptions, asks_both_sides
from kwire.cli.options import option, repeated
from kwire.cli.output import Output
from kwire.cli.waiting_notice import waiting_notice
from kwire.cli.wrapping import columns, wrapped, wrapped_command
from kwire.text.untrusted import harmless

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kwire.doctor.finding import Finding
    from kwire.migration.operator.plan import PlanInput, PlannedController
    from kwire.migration.operator.plan_files import MigrationStep

DEFAULT_CONTROLLER = "3000@HOST:9093"
COMMANDS = ("bin/", "kwire migration verify --")
"""Beginnings of actions that are commands as a whole."""


@asks_both_sides
def plan(
    options: MigrationOptions,
    output: Output,
    controller: list[str] = repeated(
        "--controller", metavar="ID@HOST:PORT", help="A controller that is to be; repeat it."
    ),
    listener: str = option(default="CONTROLLER", metavar="NAME", help="The controllers' listener."),
    protocol: str = option(
        default="PLAINTEXT", metavar="PROTOCOL", help="The security protocol of that listener."
    ),
    into: Path | None = option("--into", metavar="DIR", help="Write files to this folder."),
    yes: bool = YES,
) -> None:
    """Write the properties that each node needs in each step, and for each way back.

    Brokers, their listeners, the cluster's id and version come from ZooKeeper and from the brokers
    themselves, of which --command-config says how they are reached. Nothing is changed but the
    files of --into, and none is overwritten without a question.

    \b
    kwire migration plan --zookeeper zk1:2181/kafka --controller 3000@c1:9093 --into plan
    """
    from kwire.net.security import PROTOCOLS

    if not options.zookeeper:
        raise WrongUsage("give --zookeeper: the plan is made from it.")
    if protocol not in PROTOCOLS:
        raise WrongUsage(f"--protocol {protocol}: it is one of {', '.join(PROTOCOLS)}.")
    controllers = [*map(_controller, controller or [DEFAULT_CONTROLLER])]
    if len(ids := [node.node_id for node in controllers]) > len(set(ids)):
        raise WrongUsage("--controller: two have the same id.")
    known, failures, absent = run(_read(options, controllers, listener, protocol))
    from kwire.migration.operator.plan import migration_plan

    steps = migration_plan(known)
    for broker in known.brokers:
        if broker.unknown:
            output.warn(f"broker {broker.node_id} did not tell its configuration: {broker.unknown}")
    for broker_id in absent:
        output.warn(
            f"broker {broker_id} has replicas and is not in /brokers/ids, so it has no files: start"
            " it in ZooKeeper mode, and plan again, unless it is a KRaft broker already"
        )
    for finding in failures:
        where = f" ({'; '.join(finding.evidence)})" if finding.evidence else ""
        output.warn(f"{finding.sentence}{where}: {finding.advice}")
    if into is not None:
        _write(steps, into, output, yes=yes)
    else:
        print_steps(steps, output)


def _controller(text: str) -> PlannedController:
    """Read `3000@host:9093`. Raises WrongUsage."""
    from kwire.errors import InvalidValue
    from kwire.migration.operator.plan import PlannedController
    from kwire.net.address import Address
    from kwire.text.untrusted import whole_number

    text_of_id, _, address = text.partition("@")
    node_id = whole_number(text_of_id, bits=31)
    if node_id is None:
        raise WrongUsage(f"--controller {text}: write ID@HOST:PORT.")
    try:
        return PlannedController(node_id=node_id, address=str(Address.parse(address)))
    except InvalidValue as error:
        raise WrongUsage(f"--controller {text}: write ID@HOST:PORT; {error}.") from error


async def _read(
    options: MigrationOptions,
    controllers: Sequence[PlannedController],
    listener: str,
    protocol: str,
) -> tuple[PlanInput, list[Finding], list[int]]:
    """Return what the plan depends on, what a copy would fail at, and brokers that are missing."""
    from kwire.migration.operator.kraft_side import CLIENT_ID
    from kwire.migration.operator.plan_input import read_plan_input
    from kwire.migration.operator.preflight import copy_failures
    from kwire.migration.operator.zookeeper_reading import ZooKeeperReader
    from kwire.net.secure_connect import SecureConnect

    async with options.sides() as sides:
        async with waiting_notice(lambda: f"ZooKeeper {options.zookeeper}", options.timeout):
            zookeeper = await sides.zookeeper()
        known = await read_plan_input(
            zookeeper,
            options.zookeeper or "",
            controllers,
            connect_to=SecureConnect(options.security, CLIENT_ID, timeouts=options.timeouts),
            listener=listener,
            protocol=protocol,
        )
        known = replace(
            known,
            zookeeper_config=str(options.zookeeper_config or ""),
            command_config=str(options.command_config or ""),
        )
        reading = await ZooKeeperReader(zookeeper).read()
        planned = {broker.node_id for broker in known.brokers}
        return known, [*copy_failures(reading)], sorted(reading.assigned.keys() - planned)


def _write(steps: Sequence[MigrationStep], folder: Path, output: Output, *, yes: bool) -> None:
    """Write all files, or none if the user does not want files to be replaced."""
    from kwire.migration.operator.plan_files import plan_files

    files = {folder / name: text for name, text in plan_files(steps)}
    existing = [path for path in files if path.exists()]
    if existing:
        more = f" and {len(existing) - 1} more" if len(existing) > 1 else ""
        confirm(f"{existing[0]}{more} would be overwritten. Go on?", yes=yes)
    _replace(files)
    names = [str(path) for path in files]
    if output.is_document:
        output.print_document({"files": names})
    else:
        for name in names:
            typer.echo(name)


def _replace(files: Mapping[Path, str]) -> None:
    """Write all files beside their places first, so that a full disk leaves the old ones whole."""
    beside = {path: path.with_name(path.name + ".new") for path in files}
    try:
        for path, text in files.items():
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                beside[path].write_text(text, encoding="utf-8")
            except OSError as error:  # it names no file if the disk is full
                name = error.filename or path
                raise CommandFailed(f"{name} cannot be written: {error.strerror}") from error
        for path, new in beside.items():
            new.replace(path)
    finally:
        for new in beside.values():
            with suppress(OSError):
                new.unlink()


def print_steps(steps: Sequence[MigrationStep], output: Output) -> None:
    """Print the steps, each with its actions and its files."""
    if output.is_document:
        output.print_document({"steps": [*map(_step_document, steps)]})
        return
    if not output.is_for_people:
        raise WrongUsage(f"-o {output.form} is for lists; take --json, or --into DIR.")
    for step in steps:
        for line in wrapped(f"{step.folder}: {step.title}", 0):
            typer.echo(typer.style(line, bold=True))
        for number, action in enumerate(step.actions, 1):
            for index, line in enumerate(_action_lines(harmless(action))):
                typer.echo(f"     {line}" if index else f"  {number}. {line}")
        for file in step.files:
            typer.echo("\n" + typer.style(f"  {file.name}", fg="cyan"))
            typer.echo(
                "".join(f"    {harmless(line)}\n" for line in file.text.splitlines()), nl=False
            )
        typer.echo("")


def _action_lines(action: str) -> list[str]:
    width = columns()
    if width is not None and action.startswith(COMMANDS):
        return wrapped_command(action, width - 5)
    return wrapped(action, 5)


def _step_document(step: MigrationStep) -> dict[str, object]:
    return {
        "folder": step.folder,
        "title": step.title,
        "actions": list(step.actions),
        "files": [
            {
                "name": file.name,
                "node": file.node,
                "set": dict(file.add),
                "remove": list(file.remove),
                "warning": file.warning or None,
            }
            for file in step.files
        ],
    }
