"""The metric families of all proxies of the process, with a sample a cluster.

docs/operators/service.md lists them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate

from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)

from kwire.proxy.capture.recorder import Recorder
from kwire.proxy.data_path.server import Proxy
from kwire.proxy.data_path.tap import Tap
from kwire.proxy.filters.chain import Filters
from kwire.proxy.filters.rule import RuleFilter
from kwire.proxy.flows.latencies import LONG_POLLS
from kwire.proxy.service.metrics import Count, Metrics, node_label

FLOW = ("cluster", "node", "api", "version", "client")
PREFIX = "kwire_proxy_"


@dataclass(frozen=True, slots=True, kw_only=True)
class MeteredProxy:
    """A proxy with its counts. cluster: its name, empty if it is the only one."""

    metrics: Metrics
    proxy: Proxy
    tap: Tap
    filters: Filters | None = None
    recorders: tuple[Recorder, ...] = ()
    cluster: str = ""


class ProxyCollector:
    """Collects the metrics of the proxies that run at the moment of each scrape."""

    def __init__(self, proxies: Callable[[], Iterable[MeteredProxy]]) -> None:
        self._proxies = proxies

    def collect(self) -> Iterator[Metric]:
        """Yield one family a name: Prometheus refuses a name twice."""
        metered = list(self._proxies())
        counts: _Counts = [
            ((proxy.cluster, *labels), count)
            for proxy in metered
            for labels, count in proxy.metrics.counts.items()
        ]
        yield from _counters(counts)
        yield from _by_name(counts)
        yield from _latencies(counts)
        yield from _connections(metered)
        yield from _filters(metered)
        yield from _losses(metered)


_Counts = list[tuple[tuple[str, ...], Count]]


def _counter(name: str, help: str, labels: Iterable[str]) -> CounterMetricFamily:
    return CounterMetricFamily(PREFIX + name, help, labels=list(labels))


def _gauge(name: str, help: str, labels: Iterable[str]) -> GaugeMetricFamily:
    return GaugeMetricFamily(PREFIX + name, help, labels=list(labels))


def _counters(counts: _Counts) -> Iterator[Metric]:
    requests = _counter("requests", "Requests whose flow has ended.", FLOW)
    unanswered = _counter("unanswered", "Requests that should have been answered.", FLOW)
    asked = _counter("request_bytes", "Bytes of requests.", FLOW)
    answered = _counter("response_bytes", "Bytes of responses.", FLOW)
    for labels, count in counts:
        requests.add_metric(labels, count.requests)
        unanswered.add_metric(labels, count.unanswered)
        asked.add_metric(labels, count.request_bytes)
        answered.add_metric(labels, count.response_bytes)
    yield from (requests, unanswered, asked, answered)


def _by_name(counts: _Counts) -> Iterator[Metric]:
    errors = _counter("errors", "Responses with this error code, at any level.", (*FLOW, "error"))
    actions = _counter("filter_actions", "What filters did to messages.", (*FLOW, "action"))
    for labels, count in counts:
        for name, number in count.errors.items():
            errors.add_metric((*labels, name), number)
        for effect, number in count.effects.items():
            actions.add_metric((*labels, effect.value), number)
    yield from (errors, actions)


def _latencies(counts: _Counts) -> Iterator[Metric]:
    until = "Seconds from the head of the request to the head of the response"
    prompt = HistogramMetricFamily(f"{PREFIX}latency_seconds", f"{until}.", labels=FLOW)
    polls = HistogramMetricFamily(
        f"{PREFIX}long_poll_seconds", f"{until}: {', '.join(sorted(LONG_POLLS))}.", labels=FLOW
    )
    for labels, count in counts:
        family = polls if labels[FLOW.index("api")] in LONG_POLLS else prompt
        bounds = (*map(str, count.bounds), "+Inf")
        buckets = list(zip(bounds, accumulate(count.buckets), strict=True))
        family.add_metric(labels, buckets, count.seconds)
    yield from (prompt, polls)


def _connections(metered: list[MeteredProxy]) -> Iterator[Metric]:
    connections = _gauge("connections", "Connections that are open.", ("cluster", "node"))
    events = _counter(
        "connection_events", "What became of connections.", ("cluster", "node", "event")
    )
    for proxy in metered:
        nodes = Counter({node_label(listener): 0 for listener in proxy.proxy.addresses})
        nodes.update(node_label(connection) for connection in proxy.proxy.connections)
        for node, number in nodes.items():
            connections.add_metric((proxy.cluster, node), number)
        for (node, kind), number in proxy.metrics.notices.items():
            events.add_metric((proxy.cluster, node, kind.name.lower()), number)
    yield from (connections, events)


def _filters(metered: list[MeteredProxy]) -> Iterator[Metric]:
    held = _gauge("held_bytes", "Bytes of messages that filters hold.", ("cluster",))
    hits = _counter(
        "rule_hits", "Messages that a rule of the rules file struck.", ("cluster", "rule")
    )
    for proxy in metered:
        held.add_metric((proxy.cluster,), proxy.proxy.held.held)
        for name, number in _hits(proxy.filters).items():
            hits.add_metric((proxy.cluster, name), number)
    yield from (held, hits)


def _hits(filters: Filters | None) -> Counter[str]:
    hits: Counter[str] = Counter()
    for rule in () if filters is None else filters.filters:
        if isinstance(rule, RuleFilter):
            hits[rule.name] += rule.hits
    return hits


def _losses(metered: list[MeteredProxy]) -> Iterator[Metric]:
    lost = _counter(
        "overflows",
        "Events dropped because a queue was full; traffic passed unaffected.",
        ("cluster", "where"),
    )
    recording = _gauge("recording", "Whether what passes is recorded, 0 or 1.", ("cluster",))
    for proxy in metered:
        lost.add_metric((proxy.cluster, "copies"), proxy.proxy.copies.dropped)
        lost.add_metric((proxy.cluster, "decoder"), proxy.tap.undecoded + proxy.tap.dropped)
        if proxy.recorders:
            dropped = sum(recorder.dropped for recorder in proxy.recorders)
            lost.add_metric((proxy.cluster, "recorder"), dropped)
            has_failed = any(recorder.failure for recorder in proxy.recorders)
            recording.add_metric((proxy.cluster,), not has_failed)
    yield from (lost, recording)
