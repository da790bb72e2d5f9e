"""The options of `kwire migration`: both sides of a migration, and how they are reached."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kwire.cli.errors import WrongUsage, usage_errors
from kwire.cli.exit_codes import exit_code
from kwire.cli.metadata_sources import SourceOptions
from kwire.cli.options import CommandParameters, group_of, group_parameters, option, set_parameters
from kwire.cli.output import OutputOptions
from kwire.cli.profiles import read_profile
from kwire.extras import importing
from kwire.net.timeouts import DEFAULT_TIMEOUTS, Timeouts

if TYPE_CHECKING:
    from kwire.migration.operator.sides import MigrationSides
    from kwire.net.security import Security
    from kwire.zookeeper import ZooKeeper
    from kwire.zookeeper.settings import ZooKeeperSettings


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

        with importing("kazoo", "zookeeper", "ZooKeeper"):
            from kwire.zookeeper.kazoo_client import KazooZooKeeper
        try:
            return await KazooZooKeeper.connect(self.zookeeper_settings)
        except ZooKeeperAuthenticationFailed as error:
            advice = _login_advice(self.zookeeper_settings)
            raise ZooKeeperAuthenticationFailed(f"{error}; {advice}") from error

    @property
    def zookeeper_settings(self) -> ZooKeeperSettings:
        """The address of ZooKeeper, TLS and login. Raises WrongUsage."""
        from dataclasses import replace

        from kwire.zookeeper.settings import ZooKeeperSettings

        file = self.zookeeper_config
        pairs = dict(zookeeper_properties(file)) if file else {}
        pairs["zookeeper.connect"] = self.zookeeper or ""
        with usage_errors():
            settings = ZooKeeperSettings.from_properties(pairs)
        return replace(
            settings,
            connection_seconds=self.timeout,
            # kazoo gives up a silent server after two thirds of it.
            session_seconds=min(settings.session_seconds, self.timeout * 1.5),
            retries_refused=False,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _BothSidesOptions:
    """The options that `asks_both_sides` adds, in their order."""

    zookeeper: str | None = option(
        "--zookeeper",
        metavar="HOST:PORT,.../CHROOT",
        help="zookeeper.connect of the brokers, with its chroot.",
    )
    zookeeper_config: Path | None = option(
        "--zookeeper-config",
        metavar="FILE",
        help="Properties of a broker: zookeeper.connect and zookeeper.ssl.*; and for a login"
        " java.security.auth.login.config=FILE (JAAS), or kwire.zookeeper.digest=USER:PASSWORD.",
    )
    kraft: SourceOptions
    output: OutputOptions

    def both_sides(self) -> MigrationOptions:
        """Merge options, profile and the file of properties. Raises WrongUsage without a side."""
        profile = read_profile(self.kraft.profile)
        connect = self.zookeeper
        if connect is None and self.zookeeper_config is not None:
            connect = zookeeper_properties(self.zookeeper_config).get("zookeeper.connect")
        controllers = self.kraft.bootstrap_controller or profile.bootstrap_controllers
        if not connect and not controllers:
            raise WrongUsage("give --zookeeper, --bootstrap-controller, or both.")
        command_config = self.kraft.command_config or profile.command_config
        return MigrationOptions(
            zookeeper=connect,
            zookeeper_config=self.zookeeper_config,
            controllers=controllers,
            command_config=command_config,
            timeouts=self.kraft.limits.chosen(profile, command_config),
        )


def asks_both_sides(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of both sides and of the output to a command.

    It takes `options: MigrationOptions` and `output: Output` before its own parameters. It ends
    with exit code 1 if its output failed, or with the error, which in JSON is the one object.
    """
    own = CommandParameters(command, skipped=2)

    @functools.wraps(command)
    def wrapper(**values: Any) -> None:
        added = group_of(_BothSidesOptions, values)
        options, output = added.both_sides(), added.output.output()
        with exit_code(output), _with_advice():
            command(options, output, **own.collected(values))

    set_parameters(wrapper, (*own, *group_parameters(_BothSidesOptions)))
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
