"""The options of every command that asks a cluster, added by one decorator.

The registry's row of the command's operation says what the options mean for it: whether it may be
sent to controllers, and whether a read-only profile refuses it.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from kwire.admin.registry import OperationRow, Reach
from kwire.cli.errors import WrongUsage, finite, usage_errors
from kwire.cli.event_loop import run
from kwire.cli.exit_codes import exit_code
from kwire.cli.options import (
    CommandParameters,
    flag,
    group_of,
    group_parameters,
    option,
    set_parameters,
)
from kwire.cli.output import OutputOptions
from kwire.cli.profiles import Profile, read_profile
from kwire.net.timeouts import DEFAULT_TIMEOUTS, OPERATION, Timeouts, merged

if TYPE_CHECKING:
    from kwire.admin import AdminClient
    from kwire.net.security import Security

T = TypeVar("T")

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

        with usage_errors():
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


def seconds_option(help: str) -> Any:
    """Declare an option with a limit of time."""
    return option(metavar="SECONDS", min=0.1, callback=finite, show_default=False, help=help)


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeLimits:
    """The options of the limits of time, which are keys of a profile, too."""

    timeout: float | None = seconds_option(
        f"Give up after so long, all tries counted. By default {OPERATION:g}."
    )
    connect_timeout: float | None = seconds_option(
        "Seconds for a TCP connection. By default a sixth of --timeout."
    )
    request_timeout: float | None = seconds_option(
        "Seconds for the answer to one request. By default half of --timeout."
    )

    def chosen(
        self, profile: Profile, config: Path | None, operation: float = OPERATION
    ) -> Timeouts:
        """Return the limits of the options, of a profile and of a file of properties.

        The first of them wins. operation: the default. Raises WrongUsage for a property that has no
        meaning.
        """
        properties = {}
        if config is not None:
            from kwire.cli.tls_options import client_timeouts

            properties = client_timeouts(config)
        return merged(_by_limit(self), _by_limit(profile), properties, operation=operation)


def _by_limit(source: TimeLimits | Profile) -> dict[str, float | None]:
    return {
        "operation": source.timeout,
        "connect": source.connect_timeout,
        "request": source.request_timeout,
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientSettings:
    """The options of a client's settings: a file of Kafka's, and a profile of kwire's."""

    command_config: Path | None = option(
        metavar="FILE", help="Client properties: TLS and SASL, as for Kafka's tools."
    )
    profile: str | None = option(
        "--profile", "-P", metavar="NAME", help="A cluster of `kwire profiles`."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterChoice:
    """The options that say which cluster is asked, and how."""

    bootstrap_server: str | None = option(
        "--bootstrap-server",
        metavar="HOST:PORT,...",
        help="Ask these brokers; they forward to the active controller.",
    )
    bootstrap_controller: str | None = option()
    settings: ClientSettings = ClientSettings()
    limits: TimeLimits = TimeLimits()

    def chosen(self, reach: Reach, *, unlisted: bool) -> ClusterOptions:
        """Merge options, profile and the addresses of a file of properties, in this order.

        Raises WrongUsage for none, or two bootstraps.
        """
        profile = read_profile(self.settings.profile)
        server, controller = self.bootstrap_server, self.bootstrap_controller
        if server and controller:
            raise WrongUsage("give --bootstrap-server or --bootstrap-controller, not both.")
        if not server and not controller:
            # KIP-919's operations need no broker; everything else is better off with one.
            server, controller = profile.bootstrap(controllers_first=reach is Reach.LISTED)
        config = self.settings.command_config or profile.command_config
        if not server and not controller and config is not None:
            from kwire.cli.tls_options import client_bootstrap

            server, controller = client_bootstrap(config)
        if not server and not controller:
            raise WrongUsage("give --bootstrap-server, --bootstrap-controller or --profile.")
        return ClusterOptions(
            server=server,
            controller=controller,
            command_config=config,
            timeouts=self.limits.chosen(profile, config),
            read_only=profile.read_only,
            unlisted=unlisted,
        )

    def without_bootstrap(self) -> ClusterOptions:
        """Return the settings of a client that asks no cluster."""
        profile = read_profile(self.settings.profile)
        config = self.settings.command_config or profile.command_config
        timeouts = self.limits.chosen(profile, config)
        return ClusterOptions(command_config=config, timeouts=timeouts, read_only=profile.read_only)


@dataclass(frozen=True, slots=True, kw_only=True)
class _ClusterCommandOptions:
    """The options that `asks_cluster` adds, in their order."""

    cluster: ClusterChoice
    output: OutputOptions
    allow_unlisted: bool = flag(
        "--allow-unlisted", help="Send it to controllers although KIP-919 does not."
    )


_LEFT_OUT = {"as_json": False, "allow_unlisted": False}
"""The values of options that not every command gets."""


def asks_cluster(
    row: OperationRow,
    *,
    changes: bool | None = None,
    json_flag: bool = True,
    offline: tuple[str, ...] = (),
) -> Callable[[Any], Any]:
    """Return a decorator that gives a command the options of a cluster and of its output.

    row: of the operation that decides about controllers. changes: by default the row's; True for a
    command that changes the cluster by other operations besides. json_flag: False for a command
    that has a --json of its own. offline: names of options of its own that ask no cluster.

    The command takes `cluster: ClusterOptions` and `output: Output` before its own parameters. It
    ends with exit code 1 if an item of its output failed; if all fails and JSON was asked for, the
    error is the one JSON object.
    """

    def decorate(command: Callable[..., Any]) -> Callable[..., None]:
        own = CommandParameters(command, skipped=2)

        @functools.wraps(command)
        def wrapper(**values: Any) -> None:
            options = group_of(_ClusterCommandOptions, {**_LEFT_OUT, **values})
            output = options.output.output()
            if any(values.get(name) for name in offline):
                cluster = options.cluster.without_bootstrap()
            else:
                cluster = options.cluster.chosen(row.reach, unlisted=options.allow_unlisted)
            refuse_change = cluster.read_only and (row.changes if changes is None else changes)
            with exit_code(output):
                if refuse_change:
                    _refuse(row)
                command(cluster, output, **own.collected(values))

        set_parameters(wrapper, (*own, *_added_parameters(row, json_flag)))
        return wrapper

    return decorate


def _refuse(row: OperationRow) -> None:
    from kwire.admin.errors import ReadOnly

    raise ReadOnly(
        f"the profile is read-only, and {row.command or row.name} changes the cluster:"
        " take another profile"
    )


def _added_parameters(row: OperationRow, json_flag: bool) -> Iterator[inspect.Parameter]:
    """Yield the added options; --allow-unlisted only where it has a meaning."""
    for parameter in group_parameters(_ClusterCommandOptions):
        match parameter.name:
            case "as_json" if not json_flag:
                continue
            case "allow_unlisted" if row.reach is not Reach.UNLISTED:
                continue
            case "bootstrap_controller":
                yield parameter.replace(annotation=_controller(row.reach))
            case _:
                yield parameter


def _controller(reach: Reach) -> Any:
    option = typer.Option(
        "--bootstrap-controller",
        metavar="HOST:PORT,...",
        help=_CONTROLLER[reach],
        hidden=reach is Reach.NEVER,
    )
    return Annotated[str | None, option]
