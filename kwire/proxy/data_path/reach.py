"""Connects to a node, or to one of its standbys, a few at once.

A node's acceptor has room for 50 connections that wait (Kafka: socket.listen.backlog.size). The
system drops others and dials them again after 1, 3 and 7 s, so that 2,000 at once were not answered
in 10 s by a node that accepts that many within one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from errno import ECONNREFUSED, EMFILE, ENFILE
from math import inf
from ssl import SSLContext, SSLError
from weakref import WeakValueDictionary

from kwire.net.address import Address
from kwire.net.tls import handshake_failure
from kwire.proxy.data_path.descriptors import NO_DESCRIPTOR
from kwire.proxy.data_path.proof import NotKafka, Proof

DIALS = 32
"""Most connections to one node that are being opened at once; the others wait for their turn."""

_NO_ANSWER = "no answer in time"


class Dials:
    """Bounds the connections to one node that are being opened at once.

    silent: when the last one began that was not answered in time, if none has been since.
    """

    def __init__(self) -> None:
        self.turns = asyncio.Semaphore(DIALS)
        self.silent = -inf


class NodeDials:
    """The dials of each node that somebody connects to."""

    def __init__(self) -> None:
        self._by_address: WeakValueDictionary[Address, Dials] = WeakValueDictionary()

    def of(self, node: Address) -> Dials:
        """Return the dials of a node, which all that connect to it share."""
        return self._by_address.setdefault(node, Dials())


@dataclass(frozen=True, slots=True)
class Refusal:
    """The reason why no target was reached. of_tls: True if the last one failed in TLS."""

    reason: str
    of_tls: bool = False


@dataclass(frozen=True, slots=True)
class Upstream:
    """The targets of a connection, of which the first that accepts is used.

    timeout: seconds for each, from its dial on. dials: of each. tls: None without it. name: which
    the certificate must be for, None for the target's host. prove: True to prove that a Kafka node
    is there before it is used.
    """

    targets: tuple[Address, ...]
    timeout: float
    dials: tuple[Dials, ...]
    tls: SSLContext | None = None
    name: str | None = None
    prove: bool = False


async def reach(
    upstream: Upstream, protocol: asyncio.Protocol, trying: Callable[[Address], None]
) -> Refusal | None:
    """Connect the protocol; return a refusal if no target accepts. trying: gets each target."""
    refusals = []
    of_tls = False
    for target, dials in zip(upstream.targets, upstream.dials, strict=True):
        trying(target)
        try:
            await _dial(upstream, target, dials, protocol)
            return None
        except NotKafka as error:
            of_tls = False
            refusals.append(f"nothing passes to {target}: {error}")
        except SSLError as error:
            of_tls = True
            refusals.append(f"{target} {handshake_failure(error)}")
        except (OSError, UnicodeError) as error:  # the latter for a host that is no name at all
            of_tls = False
            refusals.append(_refusal(target, error))
    return Refusal("; ".join(refusals), of_tls)


async def _dial(
    upstream: Upstream, target: Address, dials: Dials, protocol: asyncio.Protocol
) -> None:
    """Connect when it is this one's turn."""
    clock = asyncio.get_running_loop().time
    waiting_since = clock()
    async with dials.turns:
        began = clock()
        # One that was dialled while this one waited got no answer: no need to wait as long again.
        if dials.silent >= waiting_since:
            raise TimeoutError
        try:
            # Each target has the whole time: the first may be a host that drops packets silently.
            async with asyncio.timeout(upstream.timeout):
                await _connect(upstream, target, protocol)
        except TimeoutError:
            dials.silent = began
            raise
        dials.silent = -inf


async def _connect(upstream: Upstream, target: Address, protocol: asyncio.Protocol) -> None:
    loop = asyncio.get_running_loop()
    host, port = target.host, target.port
    proof = Proof(protocol) if upstream.prove else None
    first = protocol if proof is None else proof
    if upstream.tls is None:
        transport, _ = await loop.create_connection(lambda: first, host, port)
    else:
        name = upstream.name or host
        transport, _ = await loop.create_connection(
            lambda: first, host, port, ssl=upstream.tls, server_hostname=name
        )
    if proof is not None:
        try:
            await proof.proven
        except BaseException:
            transport.abort()
            raise


def _refusal(target: Address, error: OSError | UnicodeError) -> str:
    if isinstance(error, OSError) and error.errno in (EMFILE, ENFILE):
        return f"there is no connection to {target}: {NO_DESCRIPTOR}"
    return f"{target} does not accept connections: {_reason(error)}"


def _reason(error: OSError | UnicodeError) -> str:
    # Where a name has several addresses, the errors come as the text of one.
    if isinstance(error, ConnectionRefusedError) or f"[Errno {ECONNREFUSED}]" in str(error):
        return "nothing listens there"
    text = error.strerror if isinstance(error, OSError) else None
    return text or str(error) or _NO_ANSWER
