"""The options of every command that asks a cluster, added by one decorator.

The registry's row of the command's operation says what the options mean for it: whether it may be
sent to controllers, and whether a read-only profile refuses it.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from kwire.admin.registry import OperationRow, Reach
from kwire.cli.added_options import (
    chosen_form,
    exit_code,
    option_parameters,
    set_parameters,
)
from kwire.cli.errors import WrongUsage, finite
from kwire.cli.event_loop import run
from kwire.cli.output import Output, OutputForm
from kwire.cli.profiles import Profile, read_profile
from kwire.net.timeouts import DEFAULT_TIMEOUTS, OPERATION, Timeouts, merged

if TYPE_CHECKING:
    from kwire.admin import AdminClient
    from kwire.net.security import Security

T = TypeVar("T")

SERVER = Annotated[
    str | None,
    typer.Option(
        "--bootstrap-server",
        metavar="HOST:PORT,...",
        help="Ask these brokers; they forward to the active controller.",
    ),
]
COMMAND_CONFIG = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Client properties: TLS and SASL, as for Kafka's tools."),
]
PROFILE = Annotated[
    str | None,
    typer.Option("--profile", "-P", metavar="NAME", help="A cluster of `kwire profiles`."),
]


def seconds_option(help: str) -> Any:
    """Return the annotation of an option with a limit of time."""
    option = typer.Option(
        metavar="SECONDS", min=0.1, callback=finite, show_default=False, help=help
    )
    return Annotated[float | None, option]


SECONDS = seconds_option(f"Give up after so long, all tries counted. By default {OPERATION:g}.")
TIMEOUTS: dict[str, tuple[Any, Any]] = {
    "timeout": (SECONDS, None),
    "connect_timeout": (
        seconds_option("Seconds for a TCP connection. By default a sixth of --timeout."),
        None,
    ),
    "request_timeout": (
        seconds_option("Seconds for the answer to one request. By default half of --timeout."),
        None,
    ),
}
"""The options of the limits of time, which are keys of a profile, too."""
OUTPUT = Annotated[OutputForm, typer.Option("--output", "-o", help="The form of what is printed.")]
JSON = Annotated[bool, typer.Option("--json", help="Print JSON, as -o json does.")]
ALLOW_UNLISTED = Annotated[
    bool,
    typer.Option("--allow-unlisted", help="Send it to controllers although KIP-919 does not."),
]

_CONTROLLER = {
    Reach.LISTED: "Ask these controllers directly (KIP-919). Give one of the two, or a profile.",
    Reach.UNLISTED: "Ask these controllers directly; needs --allow-unlisted (KIP-919).",
    Reach.OBSERVED: "Read the metadata log of these controllers; no broker is asked.",
    Reach.NEVER: "Refused: controllers do not serve this (KIP-919).",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterOptions:
    """The cluster that a command asks, as options and profile say.

    server, controller: exactly one of them is set. read_only: a profile's. unlisted: True to send
    controllers what KIP-919 does not list.
    """

    server: str | None = None
    controller: str | None = None
    command_config: Path | None = None
    timeouts: Timeouts = DEFAULT_TIMEOUTS
    read_only: bool = False
    unlisted: bool = False

    @property
    def security(self) -> Security:
        """TLS and SASL, read from the file of client properties. Raises WrongUsage."""
        from kwire.net.security import PLAINTEXT

        if self.command_config is None:
            return PLAINTEXT
        from kwire.cli.tls_options import client_security

        return client_security(self.command_config)

    def open(self) -> AdminClient:
        """Return a client of the cluster. Raises WrongUsage."""
        from kwire.admin import AdminClient
        from kwire.errors import InvalidValue

        try:
            return AdminClient(
                self.server,
                self.controller,
                security=self.security,
                timeout=self.timeouts.operation,
                request_timeout=self.timeouts.request,
                connect_timeout=self.timeouts.connect,
                read_only=self.read_only,
                allow_unlisted=self.unlisted,
            )
        except InvalidValue as error:
            raise WrongUsage(f"{error}.") from error

    def run(self, operation: Callable[[AdminClient], Awaitable[T]]) -> T:
        """Run an operation in an event loop of its own, close the client, return the result."""

        async def open_and_run() -> T:
            from kwire.cli.waiting_notice import nodes_notice

            async with (
                self.open() as admin,
                nodes_notice(admin.awaited, self.timeouts.operation),
            ):
                return await operation(admin)

        return run(open_and_run())


def asks_cluster(
    row: OperationRow,
    *,
    changes: bool | None = None,
    json_flag: bool = True,
    offline: str = "",
) -> Callable[[Any], Any]:
    """Return a decorator that gives a command the options of a cluster and of its output.

    row: of the operation that decides about controllers. changes: by default the row's; True for a
    command that changes the cluster by other operations besides. json_flag: False for a command
    that has a --json of its own. offline: the name of a flag of its own that asks no cluster.

    The command takes `cluster: ClusterOptions` and `output: Output` before its own parameters. It
    ends with exit code 1 if an item of its output failed; if all fails and JSON was asked for, the
    error is the one JSON object.
    """
    options = _parameters(row)
    if not json_flag:
        del options["as_json"]

    def decorate(command: Callable[..., Any]) -> Callable[..., None]:
        @functools.wraps(command)
        def wrapper(**values: Any) -> None:
            chosen = {name: values.pop(name) for name in options}
            form = chosen_form(chosen["output_form"], chosen.get("as_json", False))
            output = Output(form)
            cluster = ClusterOptions() if values.get(offline) else _cluster(chosen, row.reach)
            refuse_change = cluster.read_only and (row.changes if changes is None else changes)
            with exit_code(output):
                if refuse_change:
                    _refuse(row)
                command(cluster, output, **values)

        set_parameters(wrapper, command, options.values())
        return wrapper

    return decorate


def _refuse(row: OperationRow) -> None:
    from kwire.admin.errors import ReadOnly

    raise ReadOnly(
        f"the profile is read-only, and {row.command or row.name} changes the cluster:"
        " take another profile"
    )


def _parameters(row: OperationRow) -> dict[str, inspect.Parameter]:
    """Return the added options by name; --allow-unlisted only where it has a meaning."""
    options: dict[str, tuple[Any, Any]] = {
        "bootstrap_server": (SERVER, None),
        "bootstrap_controller": (_controller(row.reach), None),
        "command_config": (COMMAND_CONFIG, None),
        "profile": (PROFILE, None),
        **TIMEOUTS,
        "output_form": (OUTPUT, OutputForm.TABLE),
        "as_json": (JSON, False),
    }
    if row.reach is Reach.UNLISTED:
        options["allow_unlisted"] = (ALLOW_UNLISTED, False)
    return option_parameters(options)


def _controller(reach: Reach) -> Any:
    option = typer.Option(
        "--bootstrap-controller",
        metavar="HOST:PORT,...",
        help=_CONTROLLER[reach],
        hidden=reach is Reach.NEVER,
    )
    return Annotated[str | None, option]


def chosen_timeouts(
    chosen: Mapping[str, Any], profile: Profile, config: Path | None, operation: float = OPERATION
) -> Timeouts:
    """Return the limits of the options, of a profile and of a file of properties, in this order.

    operation: the default. Raises WrongUsage for a property that has no meaning.
    """
    names = {"operation": "timeout", "connect": "connect_timeout", "request": "request_timeout"}
    properties = {}
    if config is not None:
        from kwire.cli.tls_options import client_timeouts

        properties = client_timeouts(config)
    return merged(
        {name: chosen[option] for name, option in names.items()},
        {name: getattr(profile, key) for name, key in names.items()},
        properties,
        operation=operation,
    )


def _cluster(chosen: dict[str, Any], reach: Reach) -> ClusterOptions:
    """Merge options, profile and the addresses of a file of properties, in this order.

    Raises WrongUsage for none, or two bootstraps.
    """
    profile: Profile = read_profile(chosen["profile"])
    server, controller = chosen["bootstrap_server"], chosen["bootstrap_controller"]
    if server and controller:
        raise WrongUsage("give --bootstrap-server or --bootstrap-controller, not both.")
    if not server and not controller:
        # KIP-919's operations need no broker; everything else is better off with one.
        server, controller = profile.bootstrap(controllers_first=reach is Reach.LISTED)
    config = chosen["command_config"] or profile.command_config
    if not server and not controller and config is not None:
        from kwire.cli.tls_options import client_bootstrap

        server, controller = client_bootstrap(config)
    if not server and not controller:
        raise WrongUsage("give --bootstrap-server, --bootstrap-controller or --profile.")
    return ClusterOptions(
        server=server,
        controller=controller,
        command_config=config,
        timeouts=chosen_timeouts(chosen, profile, config),
        read_only=profile.read_only,
        unlisted=chosen.get("allow_unlisted", False),
    )
