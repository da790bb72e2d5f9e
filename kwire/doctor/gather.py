"""Gathers evidence: asks every controller by itself, all at once, and observes the metadata log.

This is not a client's routing, which is content with one node: here each node's own answer counts.
A node that is silent costs one attempt, as long as its limits of time say, and is not asked again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from kwire.doctor.ask_node import ask_node
from kwire.doctor.evidence import EndpointOrigin, Evidence, KnownEndpoint, NodeEvidence
from kwire.errors import KwireError
from kwire.net.address import Address
from kwire.net.awaited import METADATA_LOG, Awaited
from kwire.net.secure_connect import SecureConnect
from kwire.net.security import PLAINTEXT, PROTOCOLS, Security
from kwire.net.timeouts import DEFAULT_TIMEOUTS, Timeouts

if TYPE_CHECKING:
    from kwire.image import MetadataImage
    from kwire.image.broker import BrokerRegistration

CLIENT_ID = "kwire-doctor"

AT_ONCE = 64
"""Connections at a time."""

ROUNDS = 3
"""Times that addresses learned from answers are dialled: each may name others."""

MOST_ADDRESSES = 256
"""Addresses that are dialled in all: a peer may name any number."""


async def gather(
    controllers: Sequence[Address] = (),
    servers: Sequence[Address] = (),
    *,
    security: Security = PLAINTEXT,
    with_image: bool = True,
    all_brokers: bool = False,
    timeouts: Timeouts = DEFAULT_TIMEOUTS,
    awaited: Awaited | None = None,
) -> Evidence:
    """Ask the nodes at these addresses and every controller that they name; never raises for them.

    1. Dial all addresses at once; each node tells its own id, leader, epoch and configuration.
    2. Dial the addresses that they name: voters' endpoints, registered controllers, leaders.
    3. Observe the metadata log at a leader; dial the controllers that are registered there.
    4. Dial fenced brokers, to tell a broker that is down from one that cannot reach the leader.

    all_brokers: dial every broker in step 4. controllers, servers: bootstrap addresses; brokers are
    asked for the voters' endpoints. timeouts: for each node and each answer; the metadata log has
    the time of an operation. awaited: is told whom this waits for.
    """
    gatherer = _Gatherer(SecureConnect(security, CLIENT_ID, timeouts=timeouts), awaited)
    bootstrap = [
        KnownEndpoint(address=address, origin=EndpointOrigin.BOOTSTRAP)
        for address in (*controllers, *servers)
    ]
    # 1. and 2.
    await gatherer.dial(bootstrap)
    for _ in range(ROUNDS - 1):
        await gatherer.dial(gatherer.learned())
    evidence = gatherer.evidence()
    if not with_image:
        return evidence
    # 3.
    with gatherer.awaited.asking(METADATA_LOG):
        image, reason = await _observe(evidence, gatherer.connect)
    if image is not None:
        await gatherer.dial(_registered(image))
    # 4.
    known = image.cluster.brokers.values() if image is not None else ()
    brokers = await gatherer.ask_brokers(item for item in known if item.fenced or all_brokers)
    return replace(gatherer.evidence(), image=image, no_image=reason, brokers=brokers)


async def gather_briefly(
    addresses: Sequence[Address],
    *,
    node_id: int | None = None,
    security: Security = PLAINTEXT,
    timeouts: Timeouts = DEFAULT_TIMEOUTS,
    awaited: Awaited | None = None,
) -> Evidence:
    """Ask as few nodes as a probe needs; never raises for them.

    1. Dial the bootstrap addresses, and if `node_id` is not there, the addresses that they name.
    2. Dial the leader that they follow, which knows how far each voter is; if none is followed,
       and no node was named, everything that is known.

    awaited: is told whom this waits for.
    """
    gatherer = _Gatherer(SecureConnect(security, CLIENT_ID, timeouts=timeouts), awaited)
    # 1.
    await gatherer.dial(
        KnownEndpoint(address=address, origin=EndpointOrigin.BOOTSTRAP) for address in addresses
    )
    if node_id is not None and gatherer.evidence().controller(node_id) is None:
        await gatherer.dial(gatherer.learned())
    # 2.
    followed = {node.follows.leader_id for node in gatherer.evidence().nodes if node.follows}
    leaders = [endpoint for endpoint in gatherer.learned() if endpoint.node_id in followed]
    await gatherer.dial(leaders)
    if node_id is None and gatherer.evidence().quorum is None:
        await gatherer.dial(gatherer.learned())
    return gatherer.evidence()


class _Gatherer:
    """Keeps what is known of each address; dials none twice."""

    def __init__(self, connect: SecureConnect, awaited: Awaited | None = None) -> None:
        self.connect = connect
        self.awaited = awaited or Awaited()
        self._limit = asyncio.Semaphore(AT_ONCE)
        self._endpoints: dict[KnownEndpoint, None] = {}
        self._nodes: dict[Address, NodeEvidence] = {}

    def evidence(self) -> Evidence:
        """Return what is known so far."""
        return Evidence(
            nodes=tuple(self._nodes.values()),
            endpoints=tuple(self._endpoints),
            protocol=self.connect.security.protocol,
            principal=_principal(self.connect.security),
        )

    async def dial(self, endpoints: Iterable[KnownEndpoint]) -> None:
        """Ask the nodes at those endpoints that were not asked yet, if they speak our protocol."""
        expected: dict[Address, int | None] = {}
        for endpoint in endpoints:
            address = endpoint.address
            other = endpoint.protocol not in (None, self.connect.security.protocol)
            if other and (node := self._nodes.get(address)) and node.node_id is None:
                # Dialled before its protocol was known: a login listener answers ApiVersions alone.
                del self._nodes[address]
            if not other and address not in self._nodes and address not in expected:
                if len(self._nodes) + len(expected) == MOST_ADDRESSES:
                    continue
                expected[address] = endpoint.node_id
            self._endpoints.setdefault(endpoint)
        answers = await asyncio.gather(*(self._ask(*item) for item in expected.items()))
        self._nodes |= {node.address: node for node in answers}

    def learned(self) -> list[KnownEndpoint]:
        """Return the controllers' endpoints that the nodes named in their answers."""
        return [endpoint for node in self._nodes.values() for endpoint in named_by(node)]

    async def ask_brokers(self, brokers: Iterable[BrokerRegistration]) -> dict[int, NodeEvidence]:
        """Dial one endpoint of each broker, of the protocol that we speak."""
        addresses = {
            broker.id: Address(endpoint.host, endpoint.port)
            for broker in brokers
            for endpoint in broker.endpoints[::-1]
            if protocol_name(endpoint.security_protocol) == self.connect.security.protocol
        }
        some = dict(list(addresses.items())[:MOST_ADDRESSES])
        answers = await asyncio.gather(*(self._ask(at, id) for id, at in some.items()))
        return dict(zip(some, answers, strict=True))

    async def _ask(self, address: Address, expected_id: int | None) -> NodeEvidence:
        async with self._limit:
            with self.awaited.asking(address):
                return await ask_node(self.connect, address, expected_id)


def _principal(security: Security) -> str | None:
    user = security.sasl.username if security.sasl else ""
    return f"User:{user}" if user else None


def protocol_name(code: int) -> str | None:
    """Return the name of a registered security protocol; None for an unknown number."""
    return PROTOCOLS[code] if 0 <= code < len(PROTOCOLS) else None


def named_by(node: NodeEvidence) -> list[KnownEndpoint]:
    """Return the controllers' endpoints in the answers of a node."""
    voters = [
        KnownEndpoint(
            address=Address(endpoint.host, endpoint.port),
            origin=EndpointOrigin.VOTER_SET,
            node_id=voter.node_id,
            listener=endpoint.name,
        )
        for voter in (node.quorum.nodes.values() if node.quorum else ())
        for endpoint in voter.endpoints
    ]
    controllers = node.cluster.nodes.values() if node.cluster and node.is_controller else ()
    registered = [
        KnownEndpoint(
            address=controller.address,
            origin=EndpointOrigin.REGISTRATION,
            node_id=controller.node_id,
        )
        for controller in controllers
    ]
    follows = node.follows
    leader = (
        [
            KnownEndpoint(
                address=follows.address, origin=EndpointOrigin.LEADER, node_id=follows.leader_id
            )
        ]
        if follows is not None and follows.address is not None
        else []
    )
    return voters + registered + leader + _static_voters(node)


def _static_voters(node: NodeEvidence) -> list[KnownEndpoint]:
    """Return the voters of controller.quorum.voters, `1@host:9093,2@…`."""
    if not node.is_controller:
        return []
    endpoints = []
    for text in node.config("controller.quorum.voters").split(","):
        node_id, _, address = text.strip().partition("@")
        if node_id.isdecimal() and len(node_id) < 11:
            try:
                at = Address.parse(address)
            except KwireError:
                continue
            endpoints.append(
                KnownEndpoint(address=at, origin=EndpointOrigin.VOTER_SET, node_id=int(node_id))
            )
    return endpoints


def _registered(image: MetadataImage) -> list[KnownEndpoint]:
    return [
        KnownEndpoint(
            address=Address(endpoint.host, endpoint.port),
            origin=EndpointOrigin.REGISTRATION,
            node_id=controller.id,
            listener=endpoint.name,
            protocol=protocol_name(endpoint.security_protocol),
        )
        for controller in image.cluster.controllers.values()
        for endpoint in controller.endpoints
    ]


async def _observe(evidence: Evidence, connect: SecureConnect) -> tuple[MetadataImage | None, str]:
    """Return the image as the leader has it, or the reason why there is none."""
    leaders = [node.address for node in evidence.leaders]
    if not leaders:
        return None, "no controller that leads was reached"
    from kwire.observer import LiveImage  # its messages are many, and a probe does without

    timeout = connect.timeouts.operation
    live = LiveImage(leaders, open=connect, patience=connect.timeouts.request_seconds)
    try:
        async with asyncio.timeout(timeout), live:
            return await live.ready(), ""
    except TimeoutError:
        trouble = f": {live.trouble}" if live.trouble else ""
        return None, f"no leader gave it within {timeout:.1f} s: it is slow, or hangs{trouble}"
    except KwireError as error:
        return None, str(error)
