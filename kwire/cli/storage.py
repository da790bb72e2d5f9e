"""`kwire storage`: formats and shows the directories of a node, in the words of kafka-storage."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import typer

from kwire.cli.errors import CommandFailed, WrongUsage
from kwire.cli.lazy import command_group
from kwire.cli.options import flag, option, reads_options, repeated

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kwire.logdir.format import FormatPlan
    from kwire.logdir.inspect import Inspection
    from kwire.logdir.scram import FirstCredential
    from kwire.logdir.server_properties import StorageProperties

Parsed = TypeVar("Parsed")

app = command_group(
    "Format and show the directories of a node, and recover a quorum (KIP-631, KIP-853).",
    {"recover": "kwire.cli.recover:recover"},
)

CONFIG = option("--config", "-c", default=..., metavar="FILE", help="The node's server.properties.")
AS_JSON = flag("--json", help="Print JSON for scripts.")


ADD_SCRAM_FILE = option(
    metavar="FILE",
    help="Users who can log in at once, a line each, - for stdin:"
    " SCRAM-SHA-256=[name=alice,password=SECRET].",
)


@app.command("format")
@reads_options
def format_directories(
    config: Path = CONFIG,
    cluster_id: str = option(
        "--cluster-id", "-t", default=..., metavar="ID", help="The cluster's id."
    ),
    standalone: bool = flag("--standalone", "-s", help="This controller is the only first voter."),
    initial_controllers: str | None = option(
        "--initial-controllers",
        "-I",
        metavar="VOTERS",
        help="The first voters, id@host:port:directory-id, separated by commas."
        " The same for all nodes.",
    ),
    no_initial_controllers: bool = flag(
        "--no-initial-controllers", "-N", help="This node learns of the voters from others."
    ),
    release_version: str | None = option(
        "--release-version",
        "-r",
        metavar="VERSION",
        help="Kafka's release, as 4.4 or 4.4-IV2. By default 4.3-IV0. In a migration from"
        " ZooKeeper: inter.broker.protocol.version of the file.",
    ),
    feature: list[str] = repeated(
        "--feature", "-f", metavar="NAME=LEVEL", help="May be given again."
    ),
    add_scram_file: Path | None = ADD_SCRAM_FILE,
    ignore_formatted: bool = flag(
        "--ignore-formatted", "-g", help="Leave formatted directories, format the others."
    ),
    as_json: bool = AS_JSON,
) -> None:
    """Format the directories of a node, so that it can be started.

    \b
    kwire storage format -c server.properties -t $(kwire storage random-uuid) --standalone
    """
    from kwire.errors import InvalidValue
    from kwire.logdir.features import parse_feature
    from kwire.logdir.format import FormatOptions, plan
    from kwire.logdir.voters import parse_initial_voters

    if (standalone, initial_controllers is not None, no_initial_controllers).count(True) > 1:
        raise WrongUsage(
            "Give one of --standalone, --initial-controllers and --no-initial-controllers."
        )
    try:
        voters = parse_initial_voters(initial_controllers) if initial_controllers else ()
        features = dict(map(parse_feature, feature))
    except InvalidValue as error:
        raise WrongUsage(str(error)) from None
    options = FormatOptions(
        cluster_id=cluster_id,
        standalone=standalone,
        initial_controllers=voters,
        no_initial_controllers=no_initial_controllers,
        release_version=release_version,
        features=features,
        scram=first_credentials(add_scram_file),
        ignore_formatted=ignore_formatted,
    )
    _write(plan(_properties(config), options), as_json)


@app.command()
@reads_options
def info(config: Path = CONFIG, as_json: bool = AS_JSON) -> None:
    """Show the contents of a node's directories. Exit code 1 if something is wrong.

    \b
    kwire storage info -c server.properties
    """
    from kwire.logdir.inspect import inspect
    from kwire.logdir.server_properties import node_directories

    node = _parsed(config, node_directories)
    inspection = inspect(node.paths, requires_version_0=node.requires_version_0)
    _print_json(inspection) if as_json else _print_text(inspection)
    if inspection.problems:
        raise typer.Exit(1)


@app.command("random-uuid")
def random_uuid() -> None:
    """Print a new id, for a cluster or a directory.

    \b
    kwire storage random-uuid
    """
    from kwire.logdir.format import random_uuid
    from kwire.text.ids import uuid_text

    typer.echo(uuid_text(random_uuid()))


def first_credentials(file: Path | None) -> tuple[FirstCredential, ...]:
    """Return the users of --add-scram-file. Raises WrongUsage, which holds no secret."""
    if file is None:
        return ()
    from kwire.cli.secret_input import read_secret_lines
    from kwire.errors import InvalidValue
    from kwire.logdir.scram import parse_credentials

    lines = read_secret_lines(file, "SCRAM credential")
    try:
        return parse_credentials(lines)
    except InvalidValue as error:
        raise WrongUsage(f"--add-scram-file: {error}.") from None


def _properties(config: Path) -> StorageProperties:
    from kwire.logdir.server_properties import storage_properties

    return _parsed(config, storage_properties)


def _parsed(config: Path, parse: Callable[[Mapping[str, str]], Parsed]) -> Parsed:
    from kwire.errors import InvalidValue
    from kwire.text.properties import read_properties

    pairs = read_properties(config)
    try:
        return parse(pairs)
    except InvalidValue as error:
        raise CommandFailed(f"{config}: {error}") from None


def _write(plan: FormatPlan, as_json: bool) -> None:
    from datetime import UTC, datetime

    from kwire.cli.screen import print_json
    from kwire.logdir.format import write
    from kwire.text.ids import uuid_text

    write(plan, datetime.now(UTC))
    version = plan.metadata_version.name
    if as_json:
        print_json(
            {
                "clusterId": plan.cluster_id,
                "metadataVersion": version,
                "initialControllers": [str(voter) for voter in plan.voters],
                "directories": [
                    {"path": str(path), "kind": kind.value, "directoryId": uuid_text(directory_id)}
                    for path, kind, directory_id in plan.directories
                ],
            }
        )
        return
    for path, kind, _ in plan.directories:
        typer.echo(f"Formatted {kind} {path} with metadata.version {version}.")
    if not plan.directories:
        typer.echo("All of the log directories are already formatted.")


def _print_json(inspection: Inspection) -> None:
    from kwire.cli.screen import print_json

    print_json(
        {
            "directories": [str(path) for path in inspection.existing],
            "metadata": inspection.meta.as_properties() if inspection.meta else None,
            "problems": list(inspection.problems),
        }
    )


def _print_text(inspection: Inspection) -> None:
    if inspection.existing:
        typer.echo(
            "Found log directory:" if len(inspection.existing) == 1 else "Found log directories:"
        )
        for path in inspection.existing:
            typer.echo(f"  {path}")
        typer.echo()
    if inspection.meta:
        pairs = (f"{name}={value}" for name, value in inspection.meta.as_properties().items())
        typer.echo(f"Found metadata: {{{', '.join(pairs)}}}\n")
    if inspection.problems:
        typer.echo("Found problem:" if len(inspection.problems) == 1 else "Found problems:")
        for problem in inspection.problems:
            typer.echo(f"  {problem}")
        typer.echo()
