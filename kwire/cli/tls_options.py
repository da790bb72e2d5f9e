"""The values of options that give TLS, and files of client properties."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from kwire.cli.errors import WrongUsage, usage_errors

if TYPE_CHECKING:
    from kwire.net.security import Security
    from kwire.net.tls import ClientTls, ServerTls


def client_security(config: Path) -> Security:
    """Read a file of Kafka's client properties. Raises WrongUsage."""
    from kwire.net.security import read_security

    with usage_errors():
        return read_security(config)


def client_bootstrap(config: Path) -> tuple[str | None, str | None]:
    """Return bootstrap.servers and bootstrap.controllers of a file, for a command that names none.

    Raises WrongUsage if both are there.
    """
    from kwire.net.security import read_bootstrap

    with usage_errors():
        return read_bootstrap(config)


def client_timeouts(config: Path) -> dict[str, float]:
    """Return the limits of time in a file of client properties. Raises WrongUsage."""
    from kwire.net.timeouts import read_timeouts

    with usage_errors():
        return read_timeouts(config)


def server_tls(files: list[str]) -> ServerTls:
    """Return the TLS with clients that the files of --listen-tls give. Raises WrongUsage."""
    from kwire.net.tls import ServerTls

    if len(files) not in (2, 3):
        raise WrongUsage("--listen-tls takes CERT,KEY or CERT,KEY,CA: files in PEM.")
    certificate, key, *clients = map(Path, files)
    return ServerTls(certificate=certificate, key=key, clients=clients[0] if clients else None)


def client_tls(files: list[str], name: str | None) -> ClientTls:
    """Return the TLS with nodes that the files of --upstream-tls give. Raises WrongUsage."""
    from kwire.net.tls import ClientTls

    if len(files) not in (1, 3):
        raise WrongUsage("--upstream-tls takes CA or CA,CERT,KEY: files in PEM, or `system` as CA.")
    authorities = None if files[0] == "system" else Path(files[0])
    certificate, key = map(Path, files[1:]) if len(files) == 3 else (None, None)
    return ClientTls(
        authorities=authorities,
        certificate=certificate,
        key=key,
        name=None if name == "any" else name,
        check_name=name != "any",
    )
