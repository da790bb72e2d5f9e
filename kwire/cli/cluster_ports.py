"""Brokers and fixed ports of a cluster that `kwire demo` and `kwire controller quorum` start.

Controllers have a port and those above it, brokers the port below it and those below that: with
9093 both begin where Kafka's own documentation has them.
"""

from __future__ import annotations

from kwire.cli.errors import CommandFailed
from kwire.cli.options import option

BROKERS = option(
    default=0, metavar="N", min=0, max=9, help="Brokers of Apache Kafka beside them; needs Java."
)

PORTS = option(
    metavar="PORT",
    min=1034,
    max=65000,
    help="The first controller's port: the others have those above it, brokers those below it."
    " By default free ones.",
)


def controller_ports(first: int | None, count: int) -> tuple[int, ...]:
    """Return the ports of controllers; none if free ones are to be taken. Raises CommandFailed."""
    return () if first is None else _free(range(first, first + count))


def broker_ports(first: int | None, count: int) -> tuple[int, ...]:
    """Return the ports of brokers; none if free ones are to be taken. Raises CommandFailed."""
    return () if first is None else _free(range(first - 1, first - 1 - count, -1))


def _free(ports: range) -> tuple[int, ...]:
    """Return the ports. Raises CommandFailed if a program listens at one of them."""
    import socket

    for port in ports:
        with socket.socket() as trial:
            trial.settimeout(1)
            if trial.connect_ex(("127.0.0.1", port)) == 0:
                raise CommandFailed(
                    f"something listens at 127.0.0.1:{port} already: end it, or give other --ports"
                )
    return tuple(ports)
