"""Warnings, once each, about nodes of another cluster that ask here or were asked by mistake."""

from __future__ import annotations

import logging
from collections.abc import Hashable

from kwire.codec.declaration import Request, Response
from kwire.error_codes import ErrorCode

log = logging.getLogger(__name__)

MOST = 100
"""Warnings at most: a client that makes up cluster ids must not fill the disk."""


class ForeignClusters:
    """The warnings that one controller has logged."""

    def __init__(self, *, node_id: int, cluster_id: str) -> None:
        self._node_id = node_id
        self._cluster_id = cluster_id
        self._warned: set[Hashable] = set()

    def warn_of_request(self, request: Request, peer: tuple[str, int]) -> None:
        """Warn if a request is for another cluster; once for each host and cluster."""
        cluster_id = getattr(request, "cluster_id", None)
        if cluster_id in (None, self._cluster_id) or not self._is_new((peer[0], cluster_id)):
            return
        log.warning(
            "controller %d of cluster %s: %s:%d asks for cluster %s and is refused: check the"
            " addresses of its controllers, or its meta.properties",
            *(self._node_id, self._cluster_id, peer[0], peer[1], cluster_id),
        )

    def is_first_refusal(self, response: Response, host: str, port: int) -> bool:
        """True if a response refuses this cluster's id and its node was not warned about yet."""
        code = getattr(response, "error_code", ErrorCode.NONE)
        return code == ErrorCode.INCONSISTENT_CLUSTER_ID and self._is_new((host, port, "refusal"))

    def warn_of_refusal(self, host: str, port: int, cluster_id: str | None) -> None:
        """Warn about a node that refused this cluster's id.

        cluster_id: of the node, if it has told it.
        """
        log.warning(
            "controller %d of cluster %s: the controller at %s:%d is of %s: check"
            " controller.quorum.bootstrap.servers and controller.quorum.voters",
            *(self._node_id, self._cluster_id, host, port),
            f"cluster {cluster_id}" if cluster_id else "another cluster",
        )

    def _is_new(self, subject: Hashable) -> bool:
        if subject in self._warned or len(self._warned) >= MOST:
            return False
        self._warned.add(subject)
        return True
