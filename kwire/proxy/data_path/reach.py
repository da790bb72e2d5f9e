"""Connects to a node, or to one of its standbys."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from errno import ECONNREFUSED
from ssl import SSLContext, SSLError

from kwire.net.address import Address
from kwire.net.tls import handshake_failure
from kwire.proxy.data_path.proof import NotKafka, Proof


@dataclass(frozen=True, slots=True)
class Refusal:
    """The reason why no target was reached. of_tls: True if the last one failed in TLS."""

    reason: str
    of_tls: bool = False


@dataclass(frozen=True, slots=True)
class Upstream:
    """The targets of a connection, of which the first that accepts is used.

    timeout: seconds for each. tls: None without it. name: which the certificate must be for, None
    for the target's host. prove: True to prove that a Kafka node is there before it is used.
    """

    targets: tuple[Address, ...]
    timeout: float
    tls: SSLContext | None = None
    name: str | None = None
    prove: bool = False


async def reach(
    upstream: Upstream, protocol: asyncio.Protocol, trying: Callable[[Address], None]
) -> Refusal | None:
    """Connect the protocol; return a refusal if no target accepts. trying: gets each target."""
    refusals = []
    of_tls = False
    for target in upstream.targets:
        trying(target)
        try:
            # Each target has the whole time: the first may be a host that drops packets silently.
            async with asyncio.timeout(upstream.timeout):
                await _connect(upstream, target, protocol)
            return None
        except NotKafka as error:
            of_tls = False
            refusals.append(f"nothing passes to {target}: {error}")
        except SSLError as error:
            of_tls = True
            refusals.append(f"{target} {handshake_failure(error)}")
        except (OSError, UnicodeError) as error:  # the latter for a host that is no name at all
            of_tls = False
            refusals.append(f"{target} does not accept connections: {_reason(error)}")
    return Refusal("; ".join(refusals), of_tls)


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


def _reason(error: OSError | UnicodeError) -> str:
    # Where a name has several addresses, the errors come as the text of one.
    if isinstance(error, ConnectionRefusedError) or f"[Errno {ECONNREFUSED}]" in str(error):
        return "nothing listens there"
    text = error.strerror if isinstance(error, OSError) else None
    return text or str(error) or "no answer in time"
