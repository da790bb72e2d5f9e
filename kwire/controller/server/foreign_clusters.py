"""Tells, once, of nodes of another cluster that ask here, or that were asked by mistake."""

from __future__ import annotations

import logging
from collections.abc import Hashable

from kwire.codec.declaration import Request, Response
from kwire.error_codes import ErrorCode

log = logging.getLogger(__name__)

MOST = 100
"""Warnings; whoever makes up cluster ids does not fill the disk."""


class ForeignClusters:
    """The warnings of one controller."""

    def __init__(self, *, node_id: int, cluster_id: str) -> None:
        self._node_id = node_id
        self._cluster_id = cluster_id
        self._told: set[Hashable] = set()

    def asked_by(self, request: Request, peer: tuple[str, int]) -> None:
        """Warn where a request is for another cluster: once for each host and cluster."""
        theirs = getattr(request, "cluster_id", None)
        if theirs in (None, self._cluster_id) or not self._is_news((peer[0], theirs)):
            return
        log.warning(
            "controller %d of cluster %s: %s:%d asks for cluster %s and is refused: check the"
            " addresses of its controllers, or its meta.properties",
            *(self._node_id, self._cluster_id, peer[0], peer[1], theirs),
        )

    def is_first_refusal(self, response: Response, host: str, port: int) -> bool:
        """True if a response refuses this cluster's id and nothing was told of its node yet."""
        code = getattr(response, "error_code", ErrorCode.NONE)
        return code == ErrorCode.INCONSISTENT_CLUSTER_ID and self._is_news((host, port, "refusal"))

    def refused_by(self, host: str, port: int, theirs: str | None) -> None:
        """Warn of a node that was asked. theirs: its cluster, as far as it tells it."""
        log.warning(
            "controller %d of cluster %s: the controller at %s:%d is of %s: check"
            " controller.quorum.bootstrap.servers and controller.quorum.voters",
            *(self._node_id, self._cluster_id, host, port),
            f"cluster {theirs}" if theirs else "another cluster",
        )

    def _is_news(self, what: Hashable) -> bool:
        if what in self._told or len(self._told) >= MOST:
            return False
        self._told.add(what)
        return True
