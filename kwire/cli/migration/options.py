"""The options of `kwire migration`: both sides of a migration, and how they are reached."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kwire.cli.added_options import (
    chosen_form,
    exit_code,
    option_parameters,
    set_parameters,
)
from kwire.cli.cluster_options import JSON, OUTPUT, TIMEOUTS, chosen_timeouts
from kwire.cli.errors import CommandFailed, WrongUsage
from kwire.cli.metadata_sources import CommandConfig, Controller, ProfileName
from kwire.cli.output import Output, OutputForm
from kwire.cli.profiles import read_profile
from kwire.net.timeouts import DEFAULT_TIMEOUTS, Timeouts

if TYPE_CHECKING:
    from kwire.migration.operator.sides import MigrationSides
    from kwire.net.security import Security
    from kwire.zookeeper import ZooKeeper
    from kwire.zookeeper.settings import ZooKeeperSettings

ZooKeeperAddress = Annotated[
    str | None,
    typer.Option(
        "--zookeeper",
        metavar="HOST:PORT,.../CHROOT",
        help="zookeeper.connect of the brokers, with its chroot.",
    ),
]
ZooKeeperConfig = Annotated[
    Path | None,
    typer.Option(
        "--zookeeper-config",
        metavar="FILE",
        help="Properties of a broker: zookeeper.connect and zookeeper.ssl.*; and for a login"
        " java.security.auth.login.config=FILE (JAAS), or kwire.zookeeper.digest=USER:PASSWORD.",
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class MigrationOptions:
    """Both sides, as options and profile say. zookeeper, controllers: None if not asked for."""

    zookeeper: str | None = None
    zookeeper_config: Path | None = None
    controllers: str | None = None
    command_config: Path | None = None
    timeouts: Timeouts = DEFAULT_TIMEOUTS

    @property
    def timeout(self) -> float:
        """Seconds for which a silent side is waited for."""
        return self.timeouts.operation

    @property
    def security(self) -> Security:
        """TLS and SASL with the controllers. Raises WrongUsage."""
        from kwire.cli.tls_options import client_security
        from kwire.net.security import PLAINTEXT

        return PLAINTEXT if self.command_config is None else client_security(self.command_config)

    @property
    def sought(self) -> str:
        """Both sides, for a sentence."""
        names = (("ZooKeeper", self.zookeeper), ("controllers", self.controllers))
        return " and ".join(f"{noun} {name}" for noun, name in names if name)

    def sides(self) -> MigrationSides:
        """Return both sides, not opened yet. Raises WrongUsage."""
        from kwire.admin.bootstrap import Bootstrap
        from kwire.migration.operator.kraft_side import KRaftSide
        from kwire.migration.operator.sides import MigrationSides

        kraft = None
        if self.controllers:
            addresses = Bootstrap.of(None, self.controllers).addresses
            kraft = KRaftSide(
                self.controllers, addresses, security=self.security, timeouts=self.timeouts
            )
        if self.zookeeper:
            _ = self.zookeeper_settings  # wrong ones are told before anything is asked
        return MigrationSides(
            self.zookeeper or "", self.open_zookeeper if self.zookeeper else None, kraft
        )

    async def open_zookeeper(self) -> ZooKeeper:
        """Open a session. Raises KwireError."""
        from kwire.zookeeper import ZooKeeperAuthenticationFailed

        try:
            from kwire.zookeeper.kazoo_client import KazooZooKeeper
        except ImportError as error:
            raise CommandFailed(
                "ZooKeeper needs kazoo: install it with pip install 'kwire[zookeeper]'"
            ) from error
        try:
            return await KazooZooKeeper.connect(self.zookeeper_settings)
        except ZooKeeperAuthenticationFailed as error:
            advice = _login_advice(self.zookeeper_settings)
            raise ZooKeeperAuthenticationFailed(f"{error}; {advice}") from error

    @property
    def zookeeper_settings(self) -> ZooKeeperSettings:
        """The address of ZooKeeper, TLS and login. Raises WrongUsage."""
        from dataclasses import replace

        from kwire.errors import InvalidValue
        from kwire.zookeeper.settings import ZooKeeperSettings

        file = self.zookeeper_config
        pairs = dict(zookeeper_properties(file)) if file else {}
        pairs["zookeeper.connect"] = self.zookeeper or ""
        try:
            settings = ZooKeeperSettings.from_properties(pairs)
        except InvalidValue as error:
            raise WrongUsage(f"{error}.") from error
        return replace(
            settings,
            connection_seconds=self.timeout,
            # kazoo gives up a silent server after two thirds of it.
            session_seconds=min(settings.session_seconds, self.timeout * 1.5),
            retries_refused=False,
        )


def asks_both_sides(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of both sides and of the output to a command.

    It takes `options: MigrationOptions` and `output: Output` before its own parameters. It ends
    with exit code 1 if its output failed, or with the error, which in JSON is the one object.
    """
    added = _parameters()

    @functools.wraps(command)
    def wrapper(**values: Any) -> None:
        chosen = {name: values.pop(name) for name in added}
        output = Output(chosen_form(chosen["output_form"], chosen["as_json"]))
        options = _options(chosen)
        with exit_code(output), _with_advice():
            command(options, output, **values)

    set_parameters(wrapper, command, added.values())
    return wrapper


@contextmanager
def _with_advice() -> Iterator[None]:
    """Add to an error of ZooKeeper what to do about it; its type names it in JSON."""
    from kwire.errors import KwireError

    try:
        yield
    except KwireError as error:
        from kwire.migration.operator.sight import with_advice

        error.args = (with_advice(error),)
        raise


def _parameters() -> dict[str, inspect.Parameter]:
    return option_parameters(
        {
            "zookeeper": (ZooKeeperAddress, None),
            "zookeeper_config": (ZooKeeperConfig, None),
            "bootstrap_controller": (Controller, None),
            "command_config": (CommandConfig, None),
            "profile": (ProfileName, None),
            **TIMEOUTS,
            "output_form": (OUTPUT, OutputForm.TABLE),
            "as_json": (JSON, False),
        }
    )


def _options(chosen: dict[str, Any]) -> MigrationOptions:
    """Merge options, profile and the file of properties. Raises WrongUsage if there is no side."""
    profile = read_profile(chosen["profile"])
    connect = chosen["zookeeper"]
    config = chosen["zookeeper_config"]
    if connect is None and config is not None:
        connect = zookeeper_properties(config).get("zookeeper.connect")
    controllers = chosen["bootstrap_controller"] or profile.bootstrap_controllers
    if not connect and not controllers:
        raise WrongUsage("give --zookeeper, --bootstrap-controller, or both.")
    command_config = chosen["command_config"] or profile.command_config
    return MigrationOptions(
        zookeeper=connect,
        zookeeper_config=config,
        controllers=controllers,
        command_config=command_config,
        timeouts=chosen_timeouts(chosen, profile, command_config),
    )


def zookeeper_properties(path: Path) -> dict[str, str]:
    """Return the properties of a file. Raises WrongUsage if it cannot be read."""
    from kwire.errors import InvalidValue
    from kwire.text.properties import read_properties

    try:
        return read_properties(path)
    except (InvalidValue, OSError) as error:
        raise WrongUsage(f"{error}.") from error


def _login_advice(settings: ZooKeeperSettings) -> str:
    """Say what to do when ZooKeeper does not accept the credentials of a session."""
    if settings.sasl:
        return f"correct {settings.sasl.source}"
    if settings.digest:
        return "correct kwire.zookeeper.digest in the file of --zookeeper-config"
    return (
        "give it a login in the file of --zookeeper-config:"
        " java.security.auth.login.config=FILE (JAAS), or kwire.zookeeper.digest=USER:PASSWORD"
    )
