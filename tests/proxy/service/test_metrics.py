"""Metrics: they count what passed, and no peer can make their number grow."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import generate_latest
from prometheus_client.parser import text_string_to_metric_families

from kwire.messages.a01_fetch import FetchPartition, FetchRequest, FetchTopic
from kwire.messages.a18_api_versions import ApiVersionsRequest, ApiVersionsResponse
from kwire.messages.a19_create_topics import (
    CreatableTopic,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from kwire.messages.a52_vote import VoteRequest, VoteResponse
from kwire.net.connection import Connection
from kwire.net.metrics_server import MetricsServer
from kwire.proxy import Address, DecodedFlow, Filters, Listener, Proxy, Tap
from kwire.proxy.filters.rules import read_rules
from kwire.proxy.service.metrics import CLIENT_LIMIT, SERIES_LIMIT, Metrics
from kwire.proxy.service.metrics_families import MeteredProxy, ProxyCollector
from real_kafka import Cluster
from tests.support.eventually import eventually
from tests.support.http import ask
from tests.support.proxy.dialogue import Dialogue, answered, asked
from tests.support.proxy.filter_dialogue import HeldDialogue, rule_filters

Labels = dict[str, str]


def read(text: str) -> dict[str, list[tuple[Labels, float]]]:
    """Labels and values by the name of the sample."""
    found: dict[str, list[tuple[Labels, float]]] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            found.setdefault(sample.name, []).append((sample.labels, sample.value))
    return found


async def scrape(metered: MeteredProxy) -> dict[str, list[tuple[Labels, float]]]:
    async with MetricsServer(ProxyCollector(lambda: [metered]), "127.0.0.1", 0) as server:
        status, body = await ask(server.port, "GET /metrics HTTP/1.1")
    assert status == "HTTP/1.1 200 OK"
    return read(body)


def metered(metrics: Metrics) -> MeteredProxy:
    return MeteredProxy(metrics=metrics, proxy=Proxy(), tap=Tap(metrics.see))


def counted(dialogue: Dialogue) -> dict[str, list[tuple[Labels, float]]]:
    """Return the metrics after a dialogue."""
    metrics = Metrics()
    for event in dialogue.events:
        metrics(event)
    for flow in dialogue.flows:
        metrics.see(DecodedFlow(flow))
    registry = CollectorRegistry()
    registry.register(ProxyCollector(lambda: [metered(metrics)]))
    return read(generate_latest(registry).decode())


def total(samples: list[tuple[Labels, float]], **labels: str) -> float:
    return sum(value for found, value in samples if labels.items() <= found.items())


RULES = """
rules:
  - {name: slow, match: ~api ApiVersions, delay: 20ms, count: 1}
  - {name: refuse, match: ~api CreateTopics, error: POLICY_VIOLATION, count: 1}
"""


@asynccontextmanager
async def in_front(cluster: Cluster) -> AsyncIterator[tuple[Address, MeteredProxy]]:
    """A metered proxy with rules, in front of a real node."""
    metrics = Metrics()
    filters = Filters(rule_filters(read_rules(RULES), lambda: 0.0, 0.0))
    listener = Listener(node_id=1, upstream=Address.parse(cluster.bootstrap_servers))
    tap = Tap(metrics.see)
    async with tap, Proxy([listener], sinks=[metrics, tap], filters=filters) as proxy:
        what = MeteredProxy(metrics=metrics, proxy=proxy, tap=tap, filters=filters, cluster="test")
        yield proxy.addresses[listener], what


async def talk(address: Address) -> None:
    """One refused by a rule, one by Kafka, and a long poll for a topic that is not there."""
    async with await Connection.open(address.host, address.port, client_id="tester") as connection:
        topic = CreatableTopic(name="metered", num_partitions=1, replication_factor=9)
        for expected in ("POLICY_VIOLATION", "INVALID_REPLICATION_FACTOR"):
            answer = await connection.send(CreateTopicsRequest(topics=[topic]))
            assert isinstance(answer, CreateTopicsResponse)
            assert answer.topics[0].error_code != 0, expected
        wanted = FetchTopic(topic="__metered", partitions=[FetchPartition()])
        await connection.send(FetchRequest(max_wait_ms=50, topics=[wanted]), version=12)


async def test_a_real_session_is_counted(combined: Cluster) -> None:
    async with in_front(combined) as (address, what):
        await talk(address)
        await eventually(lambda: not what.proxy.connections)
    found = await scrape(what)  # the tap's end has shown it all
    flow = {"cluster": "test", "node": "1", "client": "tester"}
    requests = found["kwire_proxy_requests_total"]
    assert total(requests, **flow, api="ApiVersions", version="4") == 1
    assert total(requests, **flow, api="CreateTopics") == 2
    assert total(requests, **flow, api="Fetch", version="12") == 1
    errors = found["kwire_proxy_errors_total"]
    assert {(one["api"], one["error"]) for one, _ in errors} == {
        ("ApiVersions", "UNSUPPORTED_VERSION"),  # v5: the node is older than kwire (KIP-511)
        ("CreateTopics", "POLICY_VIOLATION"),
        ("CreateTopics", "INVALID_REPLICATION_FACTOR"),
        ("Fetch", "UNKNOWN_TOPIC_OR_PARTITION"),
    }
    actions = found["kwire_proxy_filter_actions_total"]
    assert total(actions, **flow, api="ApiVersions", action="delayed") == 1
    assert total(actions, **flow, api="CreateTopics", action="answered") == 1
    assert total(actions, **flow, api="CreateTopics", action="held") == 2
    hits = found["kwire_proxy_rule_hits_total"]
    assert {one["rule"]: value for one, value in hits} == {"rule slow": 1, "rule refuse": 1}
    assert total(found["kwire_proxy_latency_seconds_count"], api="CreateTopics") == 2
    assert total(found["kwire_proxy_latency_seconds_sum"], api="ApiVersions") >= 0.02
    assert {one["api"] for one, _ in found["kwire_proxy_long_poll_seconds_count"]} == {"Fetch"}
    opened = found["kwire_proxy_connection_events_total"]
    assert total(opened, event="opened") == total(opened, event="closed") == 1
    assert found["kwire_proxy_connections"] == [({"cluster": "test", "node": "1"}, 0)]


def test_bytes_and_buckets_are_those_of_the_frames() -> None:
    dialogue = Dialogue()
    dialogue.now = 1.0
    dialogue.ask(request := asked(VoteRequest(), 2, 1, "raft-client-3001"))
    dialogue.answer(response := answered(VoteResponse(error_code=41), 2, 1))
    found = counted(dialogue)
    ((labels, sent),) = found["kwire_proxy_request_bytes_total"]
    assert labels == {
        "cluster": "",
        "node": "3000",
        "api": "Vote",
        "version": "2",
        "client": "node 3001",
    }
    assert sent == len(request) - 4
    assert found["kwire_proxy_response_bytes_total"] == [(labels, len(response) - 4)]
    buckets = {one["le"]: value for one, value in found["kwire_proxy_latency_seconds_bucket"]}
    assert (buckets["0.5"], buckets["1.0"], buckets["+Inf"]) == (0, 1, 1)
    assert found["kwire_proxy_errors_total"] == [(labels | {"error": "NOT_CONTROLLER"}, 1)]


def test_what_is_lost_and_what_is_dropped_is_counted() -> None:
    rules = read_rules("rules: [{match: ~api Vote, drop: true}]")
    dialogue = HeldDialogue(filters=Filters(rule_filters(rules, lambda: 0.0, 0.0)))
    dialogue.ask(asked(VoteRequest(), 2, 1), asked(ApiVersionsRequest(), 4, 2))
    dialogue.hang_up()
    found = counted(dialogue)
    unanswered = {one["api"]: value for one, value in found["kwire_proxy_unanswered_total"]}
    assert unanswered == {"Vote": 1, "ApiVersions": 1}
    assert total(found["kwire_proxy_filter_actions_total"], api="Vote", action="dropped") == 1


def test_a_thousand_client_ids_make_a_hundred_and_one_labels() -> None:
    dialogue = Dialogue()
    for number in range(1000):
        dialogue.ask(asked(ApiVersionsRequest(), 4, number, f"client {number}"))
        dialogue.answer(answered(ApiVersionsResponse(), 4, number))
    requests = counted(dialogue)["kwire_proxy_requests_total"]
    assert len(requests) == CLIENT_LIMIT + 1
    assert total(requests, client="client 99") == 1
    assert total(requests, client="other") == 900


def test_keys_versions_and_codes_that_no_schema_has_are_other() -> None:
    dialogue = Dialogue()
    for number in range(100, 200):
        dialogue.ask(
            (10).to_bytes(4, "big") + bytes([39, number, 0, number]) + bytes(4) + b"\xff\xff"
        )
        dialogue.ask((10).to_bytes(4, "big") + bytes([0, 18, 0, number]) + bytes(4) + b"\xff\xff")
    dialogue.ask(asked(VoteRequest(), 2, 1))
    dialogue.hang_up()
    requests = counted(dialogue)["kwire_proxy_requests_total"]
    kinds = {(one["api"], one["version"]): value for one, value in requests}
    assert kinds == {("other", "other"): 100, ("ApiVersions", "other"): 100, ("Vote", "2"): 1}


def test_combinations_of_labels_are_bounded() -> None:
    metrics = Metrics()
    dialogue = Dialogue()
    for version in range(19):
        for client in range(99):
            for request in (FetchRequest(), VoteRequest()):
                if version in type(request).versions:
                    dialogue.ask(asked(request, version, 1, f"client {client}"))
    for name in ("one more", "another"):
        dialogue.ask(asked(ApiVersionsRequest(), 0, 1, name))
    dialogue.hang_up()
    for event in dialogue.events:
        metrics(event)
    named = [labels for labels in metrics.counts if labels.client != "other"]
    assert len(named) == SERIES_LIMIT
    assert sum(count.requests for count in metrics.counts.values()) == len(dialogue.flows)


@pytest.mark.parametrize("client", ["\x1b[2J" * 1000, '"}\n# HELP x', "ü" * 500])
def test_a_hostile_client_id_is_a_short_and_harmless_label(client: str) -> None:
    dialogue = Dialogue()
    dialogue.ask(asked(ApiVersionsRequest(), 4, 1, client))
    dialogue.hang_up()
    ((labels, _),) = counted(dialogue)["kwire_proxy_requests_total"]
    assert labels["client"].isprintable()
    assert len(labels["client"]) < 1000
