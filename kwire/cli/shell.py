"""`kwire shell`: the metadata of a cluster as a tree, from files or from a running quorum."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from kwire.cli.cluster_options import TimeLimits
from kwire.cli.errors import WrongUsage, usage_errors
from kwire.cli.options import argument, flag, option, reads_options
from kwire.cli.profiles import NO_PROFILE, Profile, read_profile
from kwire.cli.unpack_limit import UNPACK_LIMIT

if TYPE_CHECKING:
    from kwire.net.timeouts import Timeouts
    from kwire.shell.position import ImageSource
    from kwire.shell.shell import Shell


@reads_options
def shell(
    *,
    words: list[str] = argument(
        default=[],
        metavar="[COMMAND...]",
        help="Run this command and exit; without one, prompt for them.",
    ),
    directory: Path | None = option(
        "--directory",
        "-d",
        metavar="DIR",
        help="Read the folder __cluster_metadata-0, or the log directory that has it.",
    ),
    snapshot: Path | None = option(
        "--snapshot", "-s", metavar="FILE", help="Read one .checkpoint or .log."
    ),
    controllers: str | None = option(
        "--bootstrap-controller",
        "-q",
        metavar="HOST:PORT,...",
        help="Follow a running quorum. Give exactly one of the three.",
    ),
    config: Path | None = option(
        metavar="FILE", help="Client properties with TLS and SASL for --bootstrap-controller."
    ),
    profile: str | None = option(
        "--profile", "-P", metavar="NAME", help="Follow the controllers of this profile."
    ),
    offset: int | None = option(
        "--at", metavar="OFFSET", min=0, help="Show the cluster as it was there."
    ),
    limits: TimeLimits,
    unpack_limit: int = UNPACK_LIMIT,
    as_json: bool = flag("--json", help="Print JSON for scripts: cat and find do."),
) -> None:
    """Browse a cluster's metadata as folders and files.

    Does what kafka-metadata-shell does, and shows the metadata at any offset. Exit code 1 says
    that a path is not there. Files are only read, also those of a running node.

    \b
    kwire shell --directory /var/lib/kafka/data
    kwire shell --directory /var/lib/kafka/data ls /image/topics/byName
    kwire shell --bootstrap-controller localhost:9093 cat /image/cluster/brokers/1 --json
    kwire shell --snapshot 00000000000000000178-0000000001.checkpoint tree /image/configs
    kwire shell --directory /var/lib/kafka/data --at 131 find /image/topics
    """
    _check_command(words, as_json)
    chosen = NO_PROFILE
    if profile is not None and controllers is None:
        chosen = _profile(profile)
        controllers, config = chosen.bootstrap_controllers, config or chosen.command_config
    _check_source(directory, snapshot, controllers, config)
    timeouts = limits.chosen(chosen, config)
    with _source(directory, snapshot, controllers, config, timeouts) as source:
        session = _shell(source)
        if offset is not None:
            session.context.chosen = source.at(offset)
        if not words:
            from kwire.cli.shell_prompt import prompt

            return prompt(session)
        if not session.run([*words, *(["--json"] if as_json else [])]):
            raise typer.Exit(1)


def _check_command(words: list[str], as_json: bool) -> None:
    """Raise WrongUsage for a command that there is not, or that needs a session."""
    if not words:
        if as_json:
            raise WrongUsage("--json needs a command, such as: cat /image/provenance")
        return
    from kwire.shell.commands import COMMANDS

    command = COMMANDS.get(words[0])
    if command is None or not command.in_scripts:
        names = ", ".join(sorted(name for name in COMMANDS if COMMANDS[name].in_scripts))
        raise WrongUsage(f"{words[0]!r} is no command that runs by itself: {names} are.")
    if as_json and not command.has_json:
        raise WrongUsage(f"{words[0]} prints no JSON: cat and find do.")


def _profile(name: str) -> Profile:
    """Return a profile that names controllers. Raises WrongUsage."""
    chosen = read_profile(name)
    if chosen.bootstrap_controllers is None:
        raise WrongUsage(f"profile {name} names no bootstrap_controllers, which the shell follows.")
    return chosen


def _check_source(
    directory: Path | None, snapshot: Path | None, controllers: str | None, config: Path | None
) -> None:
    """Raise WrongUsage for no source, or two."""
    if sum(option is not None for option in (directory, snapshot, controllers)) != 1:
        raise WrongUsage("give exactly one of --directory, --snapshot and --bootstrap-controller.")
    if config is not None and controllers is None:
        raise WrongUsage("--config goes with --bootstrap-controller.")


def _source(
    directory: Path | None,
    snapshot: Path | None,
    controllers: str | None,
    config: Path | None,
    timeouts: Timeouts,
) -> ImageSource:
    """Return the one source of the options. Raises WrongUsage for an address that is none."""
    from kwire.codec import engine_cache
    from kwire.shell.files import DirectorySource, SingleFileSource

    # The next command loads the engines' code from there instead of compiling it.
    engine_cache.use_folder(engine_cache.user_folder())
    if directory is not None:
        return DirectorySource(directory)
    if snapshot is not None:
        return SingleFileSource(snapshot)
    assert controllers is not None, "one of the three is given"
    return _live(controllers, config, timeouts)


def _live(controllers: str, config: Path | None, timeouts: Timeouts) -> ImageSource:
    from kwire.admin.bootstrap import Bootstrap
    from kwire.cli.tls_options import client_security
    from kwire.net.security import PLAINTEXT
    from kwire.shell.live import LiveSource

    security = PLAINTEXT if config is None else client_security(config)
    with usage_errors():
        addresses = Bootstrap.of(None, controllers).addresses
    return LiveSource(addresses, security, timeouts)


def _shell(source: ImageSource) -> Shell:
    """Return a shell that prints lines in which nothing can command the terminal."""
    from shutil import get_terminal_size

    from kwire.shell.shell import Shell
    from kwire.text.untrusted import harmless

    def write(text: str) -> None:
        # Not typer.echo, which flushes every line: `find` prints a million of them.
        sys.stdout.write(f"{harmless(text)}\n")

    def complain(text: str) -> None:
        typer.secho(harmless(text), fg="yellow", err=True)

    def width() -> int | None:
        return get_terminal_size().columns if sys.stdout.isatty() else None

    return Shell(source, write, complain, width=width)
