"""A request as an answer's function gets it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from kwire.codec.declaration import Request, Response
from kwire.conform.clients.cluster import Cluster
from kwire.error_codes import ErrorCode


@dataclass(slots=True, kw_only=True)
class NodeAsk:
    """A request at a node, and its answer once there is one.

    wait: seconds that the node takes for it, as Fetch asks it to. no_answer: True where the client
    wants none, as Produce with acks 0.
    """

    cluster: Cluster
    node_id: int
    version: int
    body: Any
    wait: float = 0.0
    no_answer: bool = False
    answer: Any = None


NodeAnswer = Callable[[NodeAsk], Response]
"""Answers a request, and does to the cluster what a broker would."""

NodeAnswers = dict[type[Request], NodeAnswer]


def missing(*, by_id: bool) -> ErrorCode:
    """Return the error of a topic that there is not, or of a partition of it."""
    return ErrorCode.UNKNOWN_TOPIC_ID if by_id else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
