"""Finds the addresses in a decoded message, and changes them there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast

from kwire.codec.declaration import Declared, Group, Message
from kwire.codec.nodes import ArrayOf, Nullable, StructOf
from kwire.errors import KwireError
from kwire.messages.registry import request, response
from kwire.net.address import Address
from kwire.proxy.addresses.table import BY_MESSAGE, AddressField
from kwire.proxy.flows.interest import Direction

_PORTS = range(1, 1 << 16)


@dataclass(frozen=True, slots=True)
class Place:
    """One address in a message. node_id: whose it is, None where the message does not say."""

    group: Group
    field: AddressField
    node_id: int | None

    @property
    def address(self) -> Address:
        """What it says now."""
        return Address(getattr(self.group, self.field.host), getattr(self.group, self.field.port))

    def change(self, new: Address) -> None:
        """Say this from now on."""
        setattr(self.group, self.field.host, new.host)
        setattr(self.group, self.field.port, new.port)


def places(message: Message) -> Iterator[Place]:
    """Every address in it; not what stands for none, as in the error of a FindCoordinator."""
    for field in BY_MESSAGE.get(type(message).__name__, ()):
        for place in _places(message, field, field.path.split(".") if field.path else (), None):
            if place.address.host and place.address.port in _PORTS:
                yield place


def carries(kind: type[Message], version: int) -> bool:
    """Whether such a message may have an address at this version."""
    return any(
        _has(kind, [*filter(None, field.path.split(".")), field.host], version)
        for field in BY_MESSAGE.get(kind.__name__, ())
    )


@lru_cache(10_000)  # keys and versions are a peer's word
def carries_at(key: int, version: int, direction: Direction) -> bool:
    """True if frames of this kind may have an address; what no schema has is not looked at."""
    try:
        kind = request(key) if direction is Direction.REQUEST else response(key)
    except KwireError:
        return False
    return version in kind.versions and carries(kind, version)


def _places(
    group: Group, field: AddressField, path: Sequence[str], node_id: int | None
) -> Iterator[Place]:
    node_id = getattr(group, field.node_id, node_id)
    if not path:
        yield Place(group, field, node_id)
        return
    found = getattr(group, path[0])
    for one in found if isinstance(found, list) else (found,):
        if one is not None:
            yield from _places(one, field, path[1:], node_id)


def _has(kind: Declared, path: Sequence[str], version: int) -> bool:
    field = kind.fields[path[0]]
    if version not in field.versions or len(path) == 1:
        return version in field.versions
    node = field.node.inner if isinstance(field.node, Nullable) else field.node
    node = node.element if isinstance(node, ArrayOf) else node
    return _has(cast(Any, node).cls if isinstance(node, StructOf) else kind, path[1:], version)
