"""The `kwire` command: its groups, its signals and its exit codes.

A command is imported when it is called, and imports what it needs when it runs.
"""

from __future__ import annotations

import errno
import io
import os
import signal
import sys
from collections.abc import Sequence
from typing import Annotated, NoReturn

import typer

from kwire import __version__
from kwire.cli.errors import error_sentence
from kwire.cli.lazy import lazy_group

COMMANDS = {
    "decode": "kwire.cli.decode:decode",
    "protocol": "kwire.cli.protocol.commands:app",
    "vectors": "kwire.cli.vectors:app",
    "quorum": "kwire.cli.quorum.commands:app",
    "groups": "kwire.cli.admin.groups:app",
    "topics": "kwire.cli.admin.topics:app",
    "partitions": "kwire.cli.admin.partitions:app",
    "configs": "kwire.cli.admin.configs:app",
    "acls": "kwire.cli.admin.acls:app",
    "quotas": "kwire.cli.admin.quotas:app",
    "scram": "kwire.cli.admin.scram:app",
    "tokens": "kwire.cli.admin.tokens:app",
    "cluster": "kwire.cli.admin.cluster:app",
    "brokers": "kwire.cli.admin.brokers:app",
    "features": "kwire.cli.admin.features:app",
    "transactions": "kwire.cli.admin.transactions:app",
    "logdirs": "kwire.cli.admin.logdirs:app",
    "api-versions": "kwire.cli.admin.api_versions:api_versions",
    "request": "kwire.cli.admin.request:send_request",
    "migration": "kwire.cli.migration.commands:app",
    "storage": "kwire.cli.storage:app",
    "log": "kwire.cli.log:app",
    "shell": "kwire.cli.shell:shell",
    "controller": "kwire.cli.controller.command:app",
    "proxy": "kwire.cli.proxy.commands:app",
    "watch": "kwire.cli.watch.command:watch",
    "proxy-config": "kwire.cli.proxy.proxy_config:proxy_config",
    "replay": "kwire.cli.replay.command:replay",
    "capture": "kwire.cli.capture.commands:app",
    "dissector": "kwire.cli.dissector:dissector",
    "pipeline": "kwire.cli.pipeline.commands:app",
    "profiles": "kwire.cli.list_profiles:list_profiles",
    "doctor": "kwire.cli.doctor:doctor",
    "conform": "kwire.cli.conform.command:conform",
    "export": "kwire.cli.export:export",
    "diff": "kwire.cli.diff:diff",
    "apply": "kwire.cli.apply:apply",
    "exporter": "kwire.cli.exporter:exporter",
    "demo": "kwire.cli.demo.command:demo",
}
"""Each command and group in the order of `kwire --help`, and where it is imported from."""

app = typer.Typer(
    name="kwire",
    cls=lazy_group(COMMANDS),
    help="Kafka's wire protocol, both sides of the broker-controller line.",
    epilog="Exit codes: 0 done, 1 failed, 2 wrong usage, 130 stopped with Ctrl-C.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,  # typer's knows no names, and fails behind a colon in bash
    context_settings={"help_option_names": ["-h", "--help"]},
)

TERMINATION = ("SIGTERM", "SIGBREAK")
"""Signals that end a command as Ctrl-C does; Windows has the second one, Ctrl-Break."""


VERSION_HELP = "Show the version; with --json what a bug report needs."


def _version(is_requested: bool) -> None:
    if is_requested:
        typer.echo(f"kwire {__version__}")
        raise typer.Exit


def _install_completion(is_requested: bool) -> None:
    if is_requested:
        from kwire.cli.completion_scripts import install, script_of, this_shell

        typer.echo(install(script_of(this_shell())))
        raise typer.Exit


def _show_completion(is_requested: bool) -> None:
    if is_requested:
        from kwire.cli.completion_scripts import script_of, this_shell

        typer.echo(script_of(this_shell()).text, nl=False)
        raise typer.Exit


INSTALL_HELP = "Install completion for the current shell."
SHOW_HELP = "Show completion for the current shell, to copy it or customize the installation."


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help=VERSION_HELP)
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show where an error was raised; allowed anywhere.")
    ] = False,
    install_completion: Annotated[
        bool,
        typer.Option(
            "--install-completion", callback=_install_completion, is_eager=True, help=INSTALL_HELP
        ),
    ] = False,
    show_completion: Annotated[
        bool,
        typer.Option("--show-completion", callback=_show_completion, is_eager=True, help=SHOW_HELP),
    ] = False,
) -> None:
    """Taken by every command; `main` reads --debug itself, wherever it stands."""


def main(
    arguments: Sequence[str] | None = None, *, command: typer.Typer = app, name: str = "kwire"
) -> NoReturn:
    """Run one command and exit: 0 done, 1 failed, 2 wrong usage, 130 Ctrl-C.

    command, name: of another program that reports errors and exits as `kwire` does.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in words
    _open_streams()
    for signal_name in TERMINATION:
        if number := getattr(signal, signal_name, None):
            signal.signal(number, _terminate)
    try:
        if command is app and sorted(words) == ["--json", "--version"]:
            from kwire.cli.about import print_about

            print_about()
            sys.exit(0)
        command([argument for argument in words if argument != "--debug"], prog_name=name)
    except Exception as error:
        sys.exit(_report(error, debug))
    except SystemExit as ending:
        # Typer ends with 1 if the reader of the output has gone, as `| head` does.
        if not _reader_has_gone(ending.__context__):
            raise
    finally:
        _flush()
    sys.exit(0)


def _reader_has_gone(error: BaseException | None) -> bool:
    gone = errno.EINVAL if os.name == "nt" else errno.EPIPE
    return isinstance(error, OSError) and error.errno == gone


def _terminate(*_: object) -> None:
    """Raise KeyboardInterrupt for SIGTERM, as Ctrl-C does."""
    # A shell starts a script's background jobs with SIGINT ignored.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.raise_signal(signal.SIGINT)


def _open_streams() -> None:
    """Make standard streams accept any output.

    A stream that the caller closed (`>&-`) is None, and becomes the null device; characters that
    the encoding of stdout lacks are escaped.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode))
    if isinstance(sys.stdout, io.TextIOWrapper):  # stderr does so by itself
        sys.stdout.reconfigure(errors="backslashreplace")


def _report(error: Exception, debug: bool) -> int:
    """Print one line on stderr, with --debug the traceback before it; return the exit code."""
    if debug:
        import traceback

        traceback.print_exception(error)
    typer.secho(f"Error: {error_sentence(error)}", fg="red", err=True)
    return 1


def _flush() -> None:
    """Flush stdout; a reader that has gone, as `| head` does, is no error."""
    try:
        sys.stdout.flush()
    except OSError as error:
        if not _reader_has_gone(error):
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
