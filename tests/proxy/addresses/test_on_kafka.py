"""A real quorum and two brokers entirely behind the proxy, whoever advertises what.

A voter is added, the leader killed, a broker restarted: no socket passes the proxy by, a producer
and a consumer lose nothing, and bytes change only where an address stands.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import TypeVar

import pytest
from msgspec import structs

import real_kafka
from kwire.admin import AdminClient, QuorumInfo, RaftVoterEndpoint
from kwire.batches import Budget
from kwire.errors import BrokerError, KwireError
from kwire.messages.a01_fetch import FetchResponse
from kwire.net.address import Address
from kwire.net.frames import (
    RequestFrame,
    ResponseFrame,
    decode_request,
    decode_response,
    request_head,
)
from kwire.proxy import Event, Filters, Flow, Listener, Notice, NoticeKind, Proxy
from kwire.proxy.addresses import AddressBook, NewListeners
from kwire.proxy.addresses.config_lines import ProxiedNode, config_lines, proxied_nodes
from kwire.proxy.addresses.log_records import read_log
from kwire.proxy.addresses.rewrite_endpoints import RewriteEndpoints
from kwire.proxy.flows.node_addresses import node_addresses
from kwire.text.properties import parse_properties
from real_kafka import Cluster, Layout, free_port
from tests.support.eventually import eventually
from tests.support.proxy.addresses.traffic import PATIENCE, traffic
from tests.support.proxy.recording_relay import Recorder, recording
from tests.support.proxy.tcp_connections import bypasses
from tests.support.real_kafka.own_cluster import OwnCluster

CONTROLLERS, JOINING, BROKERS = (3000, 3001, 3002), 3003, (1, 2)
WATCHED = (1, JOINING)
"""Nodes whose bytes are compared on both sides of the proxy; they are never killed."""

DUPLICATE_VOTER = 126

LAYOUT = Layout(
    controllers=CONTROLLERS,
    brokers=BROKERS,
    properties={
        "offsets.topic.replication.factor": "2",
        "log.cleaner.dedupe.buffer.size": "4194304",
        "metadata.log.max.snapshot.interval.ms": "1000",
        "controller.quorum.fetch.snapshot.max.bytes": "1000",
    },
)

T = TypeVar("T")


@dataclass
class Behind:
    """A cluster behind a proxy. client_address: where others reach a node, by its id."""

    cluster: Cluster
    proxy: Proxy
    rewriting: bool
    recorders: Sequence[tuple[Recorder, Recorder]]
    client_address: Callable[[int], Address]
    events: list[Event] = field(default_factory=list)

    @property
    def ports(self) -> set[int]:
        """The ports at which the nodes listen."""
        return {node.address.port for node in self.cluster.nodes.values()}

    def admin(self, *without: int) -> AdminClient:
        """Ask the controllers, through the proxy."""
        nodes = [
            self.client_address(node) for node in self.cluster.controllers if node not in without
        ]
        return AdminClient(bootstrap_controllers=",".join(map(str, nodes)), timeout=PATIENCE)

    async def quorum(self, good: Callable[[QuorumInfo], bool], *without: int) -> QuorumInfo:
        """Wait until the leader's answer is good; return it."""

        async def ask() -> QuorumInfo | None:
            try:
                async with self.admin(*without) as client:
                    return await client.describe_metadata_quorum(timeout=5)
            except KwireError:
                return None

        found = await eventually(
            ask, lambda info: info is not None and good(info), timeout=PATIENCE
        )
        assert found is not None
        return found

    async def nobody_bypasses(self) -> None:
        """Every connection of a node goes to the proxy or comes from it.

        Where nodes advertise their own addresses, a controller that leads finds itself at its own.
        """
        assert bypasses(self.ports, but_to_itself=self.rewriting) == []


def planned(cluster: Cluster) -> dict[int, ProxiedNode]:
    """The nodes behind listeners at free ports, by their own properties."""
    files = [parse_properties(node.server_properties) for node in cluster.nodes.values()]
    nodes = proxied_nodes(files, lambda: Address("127.0.0.1", free_port()))
    return {node.node_id: node for node in nodes}


def fixture_address(address: Address) -> real_kafka.Address:
    return real_kafka.Address(address.host, address.port)


def configure(cluster: Cluster, nodes: dict[int, ProxiedNode], *, advertise: bool) -> None:
    """Give every node its lines; controllers are formatted with voters at the proxy."""
    for node_id, node in nodes.items():
        if node.voter is not None:
            cluster.nodes[node_id].advertise(fixture_address(node.voter))
    for node_id, node in nodes.items():
        (listener,) = node.listeners.items()
        real = {"advertised.listeners": f"{listener[0]}://{listener[1].upstream}"}
        lines = config_lines(node, list(nodes.values()), advertise=advertise)
        cluster.nodes[node_id].configure(real | lines)


@asynccontextmanager
async def behind(cluster: Cluster, *, rewriting: bool) -> AsyncIterator[Behind]:
    """The cluster runs, with recorders on both sides of the proxy for one broker."""
    events: list[Event] = []
    nodes = planned(cluster)
    configure(cluster, nodes, advertise=not rewriting)
    book = AddressBook()
    filters = Filters([RewriteEndpoints(book)]) if rewriting else None
    async with AsyncExitStack() as stack:
        proxy = await stack.enter_async_context(Proxy(sinks=[events.append], filters=filters))
        recorders = []
        for node_id, node in nodes.items():
            (listener,) = node.listeners.values()
            if node_id in WATCHED:
                after = await stack.enter_async_context(
                    recording(listener.upstream, Address("127.0.0.1", 0))
                )
                middle = await proxy.listen(Listener(node_id=node_id, upstream=after.address))
                before = await stack.enter_async_context(recording(middle, listener.listen))
                recorders.append((before, after))
                book.add(listener.upstream, listener.listen)
            elif node_id in CONTROLLERS or not rewriting:
                await proxy.listen(listener)
        if rewriting:
            await stack.enter_async_context(NewListeners(proxy, book))

        def client_address(node_id: int) -> Address:
            (listener,) = nodes[node_id].listeners.values()
            return (book.proxy_address(listener.upstream) if rewriting else None) or listener.listen

        joining = cluster.nodes.pop(JOINING)
        await asyncio.to_thread(cluster.start)
        cluster.nodes[JOINING] = joining
        try:
            yield Behind(cluster, proxy, rewriting, recorders, client_address, events)
        finally:
            await asyncio.to_thread(cluster.close)


@pytest.mark.nightly
@pytest.mark.parametrize("rewriting", [False, True], ids=["advertised", "rewritten"])
async def test_nothing_passes_the_proxy_by(own_cluster: OwnCluster, rewriting: bool) -> None:
    cluster = own_cluster(LAYOUT)
    cluster.add_node(JOINING)
    async with behind(cluster, rewriting=rewriting) as here:
        async with traffic(*map(here.client_address, BROKERS)) as said:
            await a_voter_is_added(here)
            await the_leader_is_killed(here)
            await a_broker_is_restarted(here)
        assert (said["refused"], said["lost"]) == (0, 0)
        assert said["acknowledged"] > 100
        await here.nobody_bypasses()
    broker, controller = (differences(*recorders) for recorders in here.recorders)
    assert broker == set()  # it knows of the others by the metadata log alone
    assert bool(controller) is rewriting
    flows = [event for event in here.events if isinstance(event, Flow)]
    reads = [flow for flow in flows if flow.api == "FetchSnapshot" and not flow.problems]
    updates = Counter(flow.connection.peer for flow in flows if flow.api == "UpdateRaftVoter")
    assert max(updates.values(), default=0) <= 2  # a voter that is content says so no more
    assert reads
    assert any("answered by RewriteEndpoints" in flow.notes for flow in reads) is rewriting
    notices = [event for event in here.events if isinstance(event, Notice)]
    assert [
        notice
        for notice in notices
        if notice.kind in (NoticeKind.UNREADABLE, NoticeKind.FILTER_FAILED)
    ] == []


async def a_voter_is_added(here: Behind) -> None:
    """The new voter reads a snapshot, and is found where the others are, at the proxy."""
    node = here.cluster.nodes[JOINING]
    await asyncio.to_thread(node.start)
    mine = node.controller_address if here.rewriting else here.client_address(JOINING)
    endpoint = RaftVoterEndpoint(name="CONTROLLER", host=mine.host, port=mine.port)

    async def add() -> bool:
        try:
            async with here.admin() as client:
                await client.add_raft_voter(JOINING, node.directory_id, [endpoint])
        except BrokerError as error:
            return error.code == DUPLICATE_VOTER  # else it lags behind, or time ran out
        return True

    await eventually(add, timeout=PATIENCE)
    info = await here.quorum(lambda info: JOINING in {voter.replica_id for voter in info.voters})
    assert {
        node_id: [Address(end.host, end.port) for end in node.endpoints]
        for node_id, node in info.nodes.items()
    } == {node_id: [here.client_address(node_id)] for node_id in (*CONTROLLERS, JOINING)}
    await here.nobody_bypasses()


async def the_leader_is_killed(here: Behind) -> None:
    """The others elect one of them, and find it at the proxy."""
    before = await here.quorum(lambda info: True)
    here.cluster.nodes[before.leader_id].kill()
    alive = {*CONTROLLERS, JOINING} - {before.leader_id}
    after = await here.quorum(
        lambda info: info.leader_id in alive and info.leader_epoch > before.leader_epoch,
        before.leader_id,
    )

    def caught_up(info: QuorumInfo) -> bool:
        ends = {
            replica.replica_id: replica.log_end_offset
            for replica in (*info.voters, *info.observers)
        }
        return all(ends.get(one, 0) >= after.high_watermark for one in (*alive, *BROKERS))

    await here.quorum(caught_up, before.leader_id)
    await here.nobody_bypasses()


async def a_broker_is_restarted(here: Behind) -> None:
    """Its partitions move to the other one and back."""
    await asyncio.to_thread(here.cluster.nodes[2].restart)
    await here.nobody_bypasses()


def differences(before: Recorder, after: Recorder) -> set[str]:
    """The messages that the proxy changed, which is where addresses are and nowhere else."""
    changed = set()
    pairs = zip(by_heads(before), by_heads(after), strict=True)
    for (asked, told), (arrived, answered) in pairs:
        for one, other in zip(frames(asked), frames(arrived), strict=False):
            if one != other:
                changed.add(same_but_for_addresses(*map(decode_request, (one, other))))
        heads = map(request_head, frames(asked))
        for head, one, other in zip(heads, frames(told), frames(answered), strict=False):
            if one != other:
                said = (decode_response(frame, head.key, head.version) for frame in (one, other))
                changed.add(same_but_for_addresses(*said))
    return changed


def by_heads(recorder: Recorder) -> list[tuple[bytes, bytes]]:
    """The connections with an answer, those of the same requests in the order of their ends."""
    answered = [streams for streams in recorder.streams if any(frames(streams[1]))]
    return sorted(
        answered, key=lambda both: [structs.astuple(request_head(f)) for f in frames(both[0])]
    )


def same_but_for_addresses(
    one: RequestFrame | ResponseFrame, other: RequestFrame | ResponseFrame
) -> str:
    """The name of a message that is the same as another without any addresses."""
    for body in (one.body, other.body):
        for place in node_addresses(body):
            place.change(Address("", 0))
        if isinstance(body, FetchResponse):
            for partition in (one for topic in body.responses for one in topic.partitions):
                partition.records = log_without_addresses(partition.records or b"")
    assert one == other
    return type(one.body).__name__


def log_without_addresses(data: bytes) -> bytes:
    batches, end = read_log(data, Budget.of_frame(len(data)))
    for batch in batches:
        for message in batch.messages:
            for place in node_addresses(message):
                place.change(Address("", 0))
    return b"".join(batch.encode() for batch in batches) + data[end:]


def frames(stream: bytes) -> Iterator[bytes]:
    """The frames in one direction of a connection, without their sizes."""
    position = 0
    while position + 4 <= len(stream):
        end = position + 4 + int.from_bytes(stream[position : position + 4], "big")
        if end > len(stream):
            return
        yield stream[position + 4 : end]
        position = end
