"""The presets break a real quorum the way they say, and the quorum is well again without them."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from random import Random
from time import monotonic
from typing import TypeVar

import pytest

from kwire.admin import AdminClient, QuorumInfo
from kwire.errors import KwireError
from kwire.proxy import Event, Filters, Flow, Listener, Outcome, Proxy, pass_everything
from kwire.proxy.filters.rules import read_rules
from real_kafka import Address, Cluster, Layout
from tests.support.eventually import eventually
from tests.support.proxy.filter_dialogue import rule_filters
from tests.support.proxy.kafka_behind_proxy import kwire_address
from tests.support.real_kafka.own_cluster import OwnCluster

VOTERS = (3000, 3001, 3002)
BROKER = 1
PATIENCE = 90.0

FORWARDED = """
rules:
  - {name: more, match: ~api CreateTopics & ~topic patched, patch: {topics.num_partitions: 3}}
  - {name: none, match: ~api CreateTopics & ~topic refused, error: POLICY_VIOLATION}
"""

T = TypeVar("T")


class Quorum:
    """A real quorum and a broker behind the proxy; rules come and go."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.filters = Filters()
        self.flows: list[Flow] = []

    def see(self, event: Event) -> None:
        """Take an event from the proxy."""
        if isinstance(event, Flow):
            self.flows.append(event)

    def rules(self, *presets: str) -> None:
        """These are in force from now on; none makes everything well."""
        text = "rules: [" + ", ".join(f"{{preset: {preset}}}" for preset in presets) + "]"
        self.flows.clear()
        self.filters.replace(rule_filters(read_rules(text), Random(7).random, monotonic()))

    def hit(self, api: str, node: int | None = None) -> list[Flow]:
        """The flows of an API, to this node or any, that a rule has met."""
        return [
            flow
            for flow in self.flows
            if flow.api == api and flow.notes and node in (None, flow.connection.node_id)
        ]

    async def info(self) -> QuorumInfo | None:
        """Return the leader's description of the quorum, None while there is no leader."""
        try:
            async with AdminClient(
                bootstrap_controllers=self.cluster.bootstrap_controllers
            ) as client:
                return await client.describe_metadata_quorum(timeout=5)
        except KwireError:
            return None

    async def until(self, condition: Callable[[QuorumInfo], bool]) -> QuorumInfo:
        """Ask the leader until the condition holds; return its description."""
        found = await eventually(
            self.info, lambda info: info is not None and condition(info), timeout=PATIENCE
        )
        assert found is not None
        return found

    async def well(self) -> QuorumInfo:
        """No rules, nobody behind, and a leader that was there two seconds ago."""
        self.rules()
        epochs: list[tuple[float, int]] = []

        def calm(info: QuorumInfo) -> bool:
            now = monotonic()
            if (info.max_follower_lag or 0) > 3 or (epochs and epochs[-1][1] != info.leader_epoch):
                epochs.clear()
            epochs.append((now, info.leader_epoch))
            return now - epochs[0][0] > 2.0

        return await self.until(calm)

    async def fenced(self) -> bool | None:
        """Return whether the broker reports itself as fenced, None if it does not answer."""
        try:
            async with AdminClient(bootstrap_servers=self.cluster.bootstrap_servers) as client:
                told = await client.describe_cluster(include_fenced_brokers=True, timeout=5)
        except KwireError:
            return None
        return told.nodes[BROKER].is_fenced if BROKER in told.nodes else None


@asynccontextmanager
async def behind_the_proxy(cluster: Cluster) -> AsyncIterator[Quorum]:
    quorum = Quorum(cluster)
    proxied = Proxy(sinks=[quorum.see], wants=pass_everything, filters=quorum.filters)
    async with proxied as proxy:
        for node_id, node in cluster.controllers.items():
            upstream = kwire_address(node.controller_address)
            address = await proxy.listen(Listener(node_id=node_id, upstream=upstream))
            node.advertise(Address(address.host, address.port))
        await asyncio.to_thread(cluster.start)
        yield quorum
        await asyncio.to_thread(cluster.close)


@pytest.mark.nightly
async def test_each_preset_and_a_rule_for_what_is_forwarded_has_its_consequence(
    own_cluster: OwnCluster,
) -> None:
    timeouts = {"broker.session.timeout.ms": "3000", "broker.heartbeat.interval.ms": "500"}
    layout = Layout(controllers=VOTERS, brokers=(BROKER,), properties=timeouts)
    async with behind_the_proxy(own_cluster(layout)) as quorum:
        await a_topic_of_another_size_than_was_asked_for(quorum)
        await an_election_for_slow_fetches(quorum)
        await a_leader_found_without_its_announcement(quorum)
        await a_fenced_broker_for_late_heartbeats(quorum)
        await a_follower_left_behind_by_a_partition(quorum)


async def a_topic_of_another_size_than_was_asked_for(quorum: Quorum) -> None:
    """A rule changes, and another refuses, what the broker forwards in an Envelope."""
    from kafka.admin import KafkaAdminClient, NewTopic
    from kafka.errors import PolicyViolationError

    await quorum.well()
    quorum.filters.replace(rule_filters(read_rules(FORWARDED), Random(7).random, monotonic()))
    brokers = quorum.cluster.bootstrap_servers
    admin = await asyncio.to_thread(KafkaAdminClient, bootstrap_servers=brokers)
    try:
        await asyncio.to_thread(admin.create_topics, [NewTopic("patched", 1, 1)])
        with pytest.raises(PolicyViolationError):
            await asyncio.to_thread(admin.create_topics, [NewTopic("refused", 1, 1)])
        topics = await asyncio.to_thread(admin.describe_topics, ["patched"])
        assert len(topics[0]["partitions"]) == 3
    finally:
        await asyncio.to_thread(admin.close)
    met = {note for flow in quorum.flows for note in flow.notes}
    assert met >= {"in the envelope: hit by rule more", "in the envelope: hit by rule none"}


async def an_election_for_slow_fetches(quorum: Quorum) -> None:
    """A leader that nobody fetches from in time resigns, and the epoch goes up."""
    before = await quorum.well()
    quorum.rules(*(f"slow-fetch, node: {node}" for node in VOTERS))
    await quorum.until(
        lambda info: info.leader_epoch > before.leader_epoch and bool(quorum.hit("Fetch"))
    )


async def a_leader_found_without_its_announcement(quorum: Quorum) -> None:
    """No BeginQuorumEpoch arrives, and the voters still find the leader that they elected."""
    before = await quorum.well()
    slow = [f"slow-fetch, node: {node}, until: 6s" for node in VOTERS]
    lost = [f"lost-begin-quorum-epoch, node: {node}" for node in VOTERS]
    quorum.rules(*slow, *lost)
    await quorum.until(
        lambda info: info.leader_epoch > before.leader_epoch and (info.max_follower_lag or 0) <= 3
    )
    dropped = quorum.hit("BeginQuorumEpoch")
    assert dropped
    assert {flow.outcome for flow in dropped} == {Outcome.LOST}


async def a_fenced_broker_for_late_heartbeats(quorum: Quorum) -> None:
    """The controller fences a broker whose heartbeats outlast its session."""
    await quorum.well()
    await eventually(quorum.fenced, lambda fenced: fenced is False, timeout=PATIENCE)
    quorum.rules(f"late-heartbeats, node: {BROKER}, delay: 8s")
    await eventually(quorum.fenced, lambda fenced: fenced is True, timeout=PATIENCE)
    quorum.rules()
    await eventually(quorum.fenced, lambda fenced: fenced is False, timeout=PATIENCE)


async def a_follower_left_behind_by_a_partition(quorum: Quorum) -> None:
    """A follower without its leader falls behind; leader and epoch stay, since pre-votes fail."""
    before = await quorum.well()
    cut = next(node for node in VOTERS if node != before.leader_id)
    quorum.rules(f"one-way-partition, from: {cut}, to: {before.leader_id}")
    asked = before.high_watermark
    after = await quorum.until(
        lambda info: info.high_watermark >= asked + 20 and lag(info, cut) >= 15
    )
    assert (after.leader_id, after.leader_epoch) == (before.leader_id, before.leader_epoch)
    other = next(node for node in VOTERS if node not in (cut, before.leader_id))
    assert lag(after, other) <= 3
    assert (await quorum.well()).leader_epoch >= before.leader_epoch


def lag(info: QuorumInfo, node: int) -> int:
    """Return how many records a voter is behind."""
    (voter,) = [replica for replica in info.voters if replica.replica_id == node]
    found = info.lag(voter)
    assert found is not None
    return found
