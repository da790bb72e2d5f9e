"""The options of `kwire proxy` by which requests are answered here, and what they stand for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Protocol

import typer

from kwire.cli.errors import WrongUsage

if TYPE_CHECKING:
    from kwire.proxy import Filter, Listener, Proxy


class Mode(StrEnum):
    """What is answered here."""

    METADATA = "metadata"
    KIP919 = "kip919"
    CONTROLLER = "controller"


Serve = Annotated[
    Mode | None,
    typer.Option(help="Answer requests here instead of only passing them; see docs/serve.md."),
]
ClusterId = Annotated[
    str | None,
    typer.Option(
        metavar="ID", help="With --serve: the cluster's id, where its controllers do not tell it."
    ),
]
ServeConfig = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="With --serve: how the proxy itself asks nodes, as a client.properties of Kafka's;"
        " else with --upstream-tls.",
    ),
]
OffLoopback = Annotated[
    bool,
    typer.Option(
        "--off-loopback",
        help="With --serve controller: listen where other machines may reach it, too.",
    ),
]


class Serving(Protocol):
    """Answers requests; `run` opens the listeners while the proxy runs."""

    @property
    def filter(self) -> Filter:
        """What hands requests over."""

    @property
    def banner(self) -> str:
        """What must be known of it, if anything."""

    def run(self, proxy: Proxy) -> AbstractAsyncContextManager[None]:
        """Raises KwireError where it cannot begin."""

    def renew(self) -> Callable[[], None]:
        """Read the files of its own connections again; gives what takes that back.

        Raises InvalidValue, BadTls.
        """


def serving(
    mode: Mode,
    listeners: Sequence[Listener],
    *,
    cluster_id: str | None,
    advertised_host: str | None,
    off_loopback: bool,
    client_config: Path | None,
) -> Serving:
    """What the mode stands for. Raises WrongUsage, BadTls."""
    from kwire.net.address import cannot_connect, is_wildcard

    for one in listeners:
        if one.node_id is None:
            raise WrongUsage(f"--serve knows nodes by their ids: write ID@{one.listen}=….")
        if is_wildcard(one.listen.host) and advertised_host is None:
            raise WrongUsage(cannot_connect(one.listen.host, "give --advertised-host as well."))
    if mode is Mode.CONTROLLER and not off_loopback:
        _check_loopback(listeners)
    from kwire.errors import InvalidValue
    from kwire.proxy.serve.modes import serve_kip919, serve_metadata
    from kwire.proxy.serve.served_cluster import ServedCluster

    try:
        cluster = ServedCluster(
            listeners,
            client_config=client_config,
            cluster_id=cluster_id,
            advertised_host=advertised_host,
        )
    except InvalidValue as error:
        raise WrongUsage(f"{error}.") from error
    if mode is Mode.CONTROLLER:
        from kwire.cli.simulation import Simulation

        return Simulation(cluster)
    return serve_kip919(cluster) if mode is Mode.KIP919 else serve_metadata(cluster)


def _check_loopback(listeners: Sequence[Listener]) -> None:
    from kwire.net.address import is_loopback

    for one in listeners:
        host = one.listen.host
        if not is_loopback(host):
            raise WrongUsage(
                f"--serve controller answers what is not so, and {host} may be reached by others:"
                " listen at 127.0.0.1, or give --off-loopback as well."
            )
