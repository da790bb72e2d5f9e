"""The options of `kwire proxy` by which requests are answered here, and what they stand for."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Protocol

import typer

from cli.failure import WrongUsage

if TYPE_CHECKING:
    from proxy import Filter, Listener, Proxy


class Mode(StrEnum):
    """What is answered here."""

    METADATA = "metadata"


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


class Serving(Protocol):
    """Answers requests; `run` opens the listeners while the proxy runs."""

    @property
    def filter(self) -> Filter:
        """What hands requests over."""

    def run(self, proxy: Proxy) -> AbstractAsyncContextManager[None]:
        """Raises KwireError where it cannot begin."""


def serving(
    mode: Mode,
    listeners: Sequence[Listener],
    *,
    cluster_id: str | None,
    advertised_host: str | None,
) -> Serving:
    """What the mode stands for. Raises WrongUsage."""
    for one in listeners:
        if one.node_id is None:
            raise WrongUsage(f"--serve knows nodes by their ids: write ID@{one.listen}=….")
        if one.listen.host in ("0.0.0.0", "::") and advertised_host is None:
            raise WrongUsage(
                f"nobody can connect to {one.listen.host}: give --advertised-host as well."
            )
    from proxy.serve.metadata_mode import MetadataMode

    return MetadataMode(listeners, cluster_id=cluster_id, advertised_host=advertised_host)
