"""Where replicas are reached: one address for each of their listeners."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol, TypeVar

G = TypeVar("G")


class Address(Protocol):
    """What listeners and endpoints of all messages have."""

    @property
    def name(self) -> str: ...
    @property
    def host(self) -> str: ...
    @property
    def port(self) -> int: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """Somebody to send a request to. Bootstrap servers have ids from -2 downwards."""

    id: int
    host: str
    port: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """A listener's name, in capitals, and its address."""

    name: str
    host: str
    port: int


@dataclass(frozen=True, slots=True)
class Endpoints:
    """The addresses of one replica, its default listener first."""

    entries: tuple[Endpoint, ...] = ()

    @classmethod
    def of(cls, addresses: Iterable[Address]) -> Endpoints:
        """The listeners of any message or record that has some."""
        return cls(
            tuple(Endpoint(name=a.name.upper(), host=a.host, port=a.port) for a in addresses)
        )

    @classmethod
    def single(cls, listener: str, host: str, port: int) -> Endpoints:
        """One listener, as a NodeEndpoint of a response knows it."""
        return cls((Endpoint(name=listener, host=host, port=port),))

    def address(self, listener: str) -> Endpoint | None:
        """The address of a listener."""
        return next((entry for entry in self.entries if entry.name == listener), None)

    def node(self, id: int, listener: str) -> Node | None:
        """The replica as a destination."""
        found = self.address(listener)
        return Node(id=id, host=found.host, port=found.port) if found else None

    def groups(self, make: Callable[..., G]) -> list[G]:
        """The addresses as a message's own listener groups."""
        return [make(name=entry.name, host=entry.host, port=entry.port) for entry in self.entries]

    def __iter__(self) -> Iterator[Endpoint]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)


NOWHERE = Endpoints()
"""Of a replica whose address nobody told."""
