"""A request as an answer's function gets it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

from kwire.codec.declaration import Group, Request, Response
from kwire.codec.fields import ArrayOf, Nullable, StructOf
from kwire.conform.clients.cluster import Cluster
from kwire.conform.whole_answer import MessageType
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


def mirrored(cls: type[MessageType], asked: Any, **values: Any) -> MessageType:
    """Return an answer, or a part of one, with what its request has under the same names.

    values: for fields of it and of its parts, in place of the request's.
    """
    made = dict[str, Any]()
    for name, field in cls.fields.items():
        kind = field.type.inner if isinstance(field.type, Nullable) else field.type
        if name in values or not hasattr(asked, name):
            made |= {name: values[name]} if name in values else {}
        elif isinstance(kind, ArrayOf) and isinstance(kind.element, StructOf):
            part = cast(type[Group], kind.element.cls)
            made[name] = [mirrored(part, item, **values) for item in getattr(asked, name)]
        else:
            made[name] = getattr(asked, name)
    return cls(**made)


def missing(*, by_id: bool) -> ErrorCode:
    """Return the error of a topic that there is not, or of a partition of it."""
    return ErrorCode.UNKNOWN_TOPIC_ID if by_id else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
