"""Ids that a cluster gives out and clients send back, such as member and topic ids.

A replay sends those of the cluster it meets in place of the recorded ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kwire.codec.declaration import Group, Request, Response
from kwire.proxy.capture.replay.comparison import field_pairs

_IN_THE_CLUSTER = frozenset({"topic_id", "member_id", "producer_id", "producer_epoch"})
_ON_A_CONNECTION = frozenset({"session_id", "generation_id", "member_epoch"})
_OTHER_NAMES = {"generation_id_or_member_epoch": "generation_id"}
_UNSET = (0, -1, "", None)  # stand for no id

RecordedId = tuple[object, str, Any]
"""The connection on which an id counts, None for all; the name of its field; its value."""


class ClusterIds:
    """The cluster's ids by the recorded ones."""

    def __init__(self) -> None:
        self._now: dict[RecordedId, Any] = {}

    def learn(self, recorded: Response, now: Response, version: int, connection: object) -> None:
        """Remember the ids of an answer beside those of the recorded answer."""
        for pair in field_pairs(recorded, now, version):
            key = _recorded_id(pair.name, pair.left, connection)
            if key is not None and type(pair.left) is type(pair.right):
                self._now[key] = pair.right

    def put_into(self, request: Request, connection: object) -> None:
        """Replace the recorded ids in a request."""
        for group in _groups(request):
            for name in type(group).fields:
                key = _recorded_id(_OTHER_NAMES.get(name, name), getattr(group, name), connection)
                if key in self._now:
                    setattr(group, name, self._now[key])


def _recorded_id(name: str, value: Any, connection: object) -> RecordedId | None:
    if name not in _IN_THE_CLUSTER | _ON_A_CONNECTION or value in _UNSET:
        return None
    return (None if name in _IN_THE_CLUSTER else connection, name, value)


def _groups(group: Group) -> Iterator[Group]:
    """Yield a struct and all structs in it."""
    yield group
    for name in type(group).fields:
        value = getattr(group, name)
        for element in value if isinstance(value, list) else (value,):
            if isinstance(element, Group):
                yield from _groups(element)
