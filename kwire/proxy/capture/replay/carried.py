"""Ids that a cluster gives and clients give back: a replay uses those of the cluster it meets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kwire.codec.declaration import Group, Request, Response
from kwire.proxy.capture.replay.comparison import aligned

_EVERYWHERE = frozenset({"topic_id", "member_id", "producer_id", "producer_epoch"})
_ON_A_CONNECTION = frozenset({"session_id", "generation_id", "member_epoch"})
_OTHER_NAMES = {"generation_id_or_member_epoch": "generation_id"}
_NONE = (0, -1, "", None)

Key = tuple[object, str, Any]


class Carried:
    """What stood in recorded answers, and what stands in those of now."""

    def __init__(self) -> None:
        self._now: dict[Key, Any] = {}

    def learn(self, recorded: Response, now: Response, version: int, connection: object) -> None:
        """An answer came."""
        for pair in aligned(recorded, now, version):
            key = _key(pair.name, pair.left, connection)
            if key is not None and type(pair.left) is type(pair.right):
                self._now[key] = pair.right

    def put_into(self, request: Request, connection: object) -> None:
        """Replace what was recorded in a request."""
        for group in _groups(request):
            for name in type(group).fields:
                key = _key(_OTHER_NAMES.get(name, name), getattr(group, name), connection)
                if key in self._now:
                    setattr(group, name, self._now[key])


def _key(name: str, value: Any, connection: object) -> Key | None:
    if name not in _EVERYWHERE | _ON_A_CONNECTION or value in _NONE:
        return None
    return (None if name in _EVERYWHERE else connection, name, value)


def _groups(group: Group) -> Iterator[Group]:
    """A struct and all in it."""
    yield group
    for name in type(group).fields:
        value = getattr(group, name)
        for one in value if isinstance(value, list) else (value,):
            if isinstance(one, Group):
                yield from _groups(one)
