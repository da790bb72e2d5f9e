"""Backends of `serve`: who answers requests in place of the nodes behind the listeners."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Protocol

from kwire.errors import InvalidValue
from kwire.proxy.data_path.allowed_nodes import AllowedNodes
from kwire.proxy.data_path.given_addresses import GivenAddresses
from kwire.proxy.data_path.listener import Listener
from kwire.proxy.data_path.server import Proxy
from kwire.proxy.filters.filter import Filter
from kwire.proxy.service.config import ServeConfig

if TYPE_CHECKING:
    from kwire.proxy.serve.audit import RoutedChange
    from kwire.proxy.serve.served_cluster import ServedCluster


class ServeBackend(Protocol):
    """Answers requests; `run` opens the listeners of the proxy and answers meanwhile."""

    @property
    def filter(self) -> Filter:
        """The filter that hands requests over to the backend."""

    @property
    def banner(self) -> str:
        """A warning that must be shown at the start, or nothing."""

    def run(self, proxy: Proxy) -> AbstractAsyncContextManager[None]:
        """Open the listeners and answer while the context lasts. Raises KwireError."""

    def renew(self) -> Callable[[], None]:
        """Read the files of the backend's own connections again; return what undoes that.

        Raises InvalidValue, BadTls.
        """


SimulateController = Callable[["ServedCluster"], ServeBackend]
"""Makes the backend of `serve: {mode: controller}`. kwire.proxy must not import kwire.controller:
`kwire.cli`, which may import both, passes this in."""


def serve_backend(
    config: ServeConfig,
    listeners: Sequence[Listener],
    advertised_host: str | None,
    allowed: AllowedNodes,
    simulate: SimulateController | None,
    *,
    given: GivenAddresses,
    lend_rights: bool,
    audit: Callable[[RoutedChange], None],
) -> ServeBackend:
    """Return the backend of a mode.

    given: keeps the addresses of nodes. audit: takes each change that is routed.
    Raises BadTls, and InvalidValue for a bad client_config.
    """
    # The observer and the answers are loaded only for proxies that serve.
    from kwire.proxy.serve.modes import serve_kip919, serve_metadata
    from kwire.proxy.serve.served_cluster import ServedCluster

    cluster = ServedCluster(
        listeners,
        client_config=config.client_config,
        lend_rights=lend_rights,
        cluster_id=config.cluster_id,
        advertised_host=advertised_host,
        allowed=allowed,
        given=given,
    )
    if config.mode == "metadata":
        return serve_metadata(cluster, audit)
    if config.mode == "kip919":
        return serve_kip919(cluster)
    if simulate is None:
        raise InvalidValue("serve: there is no controller to simulate here")
    return simulate(cluster)
