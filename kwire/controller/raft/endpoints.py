"""The addresses of replicas: one for each of their listeners (KIP-853 "Endpoints information";
Java: Endpoints)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol, TypeVar

G = TypeVar("G")


class NamedAddress(Protocol):
    """The fields that the listeners and endpoints of all messages have."""

    @property
    def name(self) -> str: ...
    @property
    def host(self) -> str: ...
    @property
    def port(self) -> int: ...


_TRIMMED = "".join(map(chr, range(0x21)))
"""The characters that Java's String.trim takes away."""


def unusable(addresses: Iterable[NamedAddress]) -> str | None:
    """Return the reason for which Kafka refuses listeners; None if it takes them.

    A blank name ends a node of Kafka's that reads it in a record (Java: ListenerName.normalised);
    with a blank host or port 0 it cannot register (ListenerInfo). Of two of a name it takes one.
    """
    names: set[str] = set()
    for address in addresses:
        name = address.name.strip(_TRIMMED).upper()
        if not name:
            return "A listener has no name."
        if not address.host.strip(_TRIMMED) or not address.port:
            return f"Listener {name} has no host or no port."
        if name in names:
            return f"Listener {name} is given twice."
        names.add(name)
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerNode:
    """The destination of a request. Bootstrap servers have ids from -2 downwards."""

    id: int
    host: str
    port: int

    @property
    def is_bootstrap_server(self) -> bool:
        """True for a server of which only the address is known."""
        return self.id < 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ListenerEndpoint:
    """A listener's name, in capitals, and its address."""

    name: str
    host: str
    port: int


@dataclass(frozen=True, slots=True)
class Endpoints:
    """The addresses of one replica, its default listener first."""

    entries: tuple[ListenerEndpoint, ...] = ()

    @classmethod
    def of(cls, addresses: Iterable[NamedAddress]) -> Endpoints:
        """Take the listeners of any message or record that has some."""
        return cls(
            tuple(
                ListenerEndpoint(name=address.name.upper(), host=address.host, port=address.port)
                for address in addresses
            )
        )

    @classmethod
    def single(cls, listener: str, host: str, port: int) -> Endpoints:
        """Take one listener, as a NodeEndpoint of a response has it; none if it is `unusable`."""
        address = ListenerEndpoint(name=listener, host=host, port=port)
        return cls() if unusable([address]) else cls((address,))

    def address(self, listener: str) -> ListenerEndpoint | None:
        """Return the address of a listener."""
        return next((entry for entry in self.entries if entry.name == listener), None)

    def node(self, id: int, listener: str) -> PeerNode | None:
        """Return the replica as a destination."""
        address = self.address(listener)
        return PeerNode(id=id, host=address.host, port=address.port) if address else None

    def groups(self, make: Callable[..., G]) -> list[G]:
        """Return the addresses as a message's own listener groups."""
        return [make(name=entry.name, host=entry.host, port=entry.port) for entry in self.entries]

    def __iter__(self) -> Iterator[ListenerEndpoint]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)


NO_ENDPOINTS = Endpoints()
"""The endpoints of a replica whose address is not known."""
