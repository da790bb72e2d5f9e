"""The addresses in front of nodes, and the limits of waiting."""

from __future__ import annotations

from dataclasses import dataclass, field

from kwire.net.address import Address, local_host
from kwire.net.frames import FRAME_LIMIT
from kwire.net.tls import ClientTls, ServerTls


@dataclass(slots=True, eq=False)
class ListenerGuard:
    """Restricts a listener in front of a node that only a message named.

    believed: True once another node has named it, too.
    """

    believed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Listener:
    """One node and the address at which the proxy stands in front of it.

    node_id: None where it is not known. listen: port 0 lets the system choose one, which
    `Proxy.listen` returns. standbys: tried in turn where the node does not accept.
    tls: with clients; upstream_tls: with the node and its standbys; None for none.
    guard: what passes to a node that only a message named; None for one that was configured.
    """

    node_id: int | None
    upstream: Address
    listen: Address = field(default_factory=lambda: Address("127.0.0.1", 0))
    standbys: tuple[Address, ...] = ()
    tls: ServerTls | None = None
    upstream_tls: ClientTls | None = None
    guard: ListenerGuard | None = field(default=None, compare=False)

    @property
    def presents_certificate(self) -> bool:
        """True if nodes know its clients by a certificate of the proxy's."""
        return self.upstream_tls is not None and self.upstream_tls.certificate is not None

    @property
    def connects_to_itself(self) -> bool:
        """True if it would connect to itself, as far as the addresses tell."""
        here, there = self.listen, self.upstream
        return here.port == there.port and _reached(here.host) == _reached(there.host)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The longest times that the proxy waits, in seconds, and the most that it takes.

    connect: for the node to accept, from when it is dialled: no more than `reach.DIALS` of a node
    are under way at once. first_frame: for a client's first request to begin. login: from
    a client's first SaslHandshake to its first request that is not of the login. progress:
    for `step` more bytes of a frame that has begun, or its end, while nobody holds them back; for
    all of a frame that filters wait for, and a second more for each 256 KiB. idle: for any byte
    (Kafka: connections.max.idle.ms). drain: for what is left after a close to go on. request_size:
    bytes of the longest request (Kafka: socket.request.max.bytes); behind a longer one bytes only
    pass. connections: of all clients; connections_per_ip: of one address, half of them, so that no
    single one has all the places. threads: of the loop in C, among which connections are spread.
    """

    connect: float = 10.0
    first_frame: float = 30.0
    login: float = 30.0
    progress: float = 30.0
    step: int = 1024
    idle: float = 600.0
    drain: float = 30.0
    request_size: int = FRAME_LIMIT
    connections: int = 10_000
    connections_per_ip: int = 5_000
    threads: int = 1

    @property
    def tick(self) -> float:
        """Seconds between two checks of the connections."""
        shortest = min(self.first_frame, self.login, self.progress, self.idle, self.drain)
        return max(0.01, min(1.0, shortest / 4))


def _reached(host: str) -> str:
    """Return the host at which a client on this machine reaches one that listens at `host`."""
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, local_host(host))
