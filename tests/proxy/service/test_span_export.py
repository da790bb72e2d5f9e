"""Spans go to a collector; one that is away or slow holds up nothing."""

from __future__ import annotations

import time

import pytest

from kwire.errors import InvalidValue
from kwire.messages.a12_heartbeat import HeartbeatRequest, HeartbeatResponse
from kwire.proxy import Flow
from kwire.proxy.service import span_export
from kwire.proxy.service.span_export import SpanCollector, SpanExport, endpoint
from tests.support.eventually import eventually_blocking
from tests.support.proxy.capture.replay.recorded_flows import flow
from tests.support.proxy.otlp_collector import otlp_collector

CLOSED = "http://127.0.0.1:1"


def beat(number: int, error: int = 0) -> Flow:
    at = 1_764_400_000.0 + number
    return flow(HeartbeatRequest(), HeartbeatResponse(error_code=error), 4, at=at)


def exporting(url: str) -> tuple[SpanExport, list[str]]:
    told: list[str] = []
    export = SpanExport(SpanCollector(url, "orders"), told.append)
    export.start()
    return export, told


def test_spans_reach_a_collector_with_their_node_times_and_errors() -> None:
    with otlp_collector() as collector:
        export, told = exporting(collector.url)
        for number in range(3):
            export(beat(number, error=27 * (number == 2)))
        export.end()
    assert export.summary == "3 spans sent"
    assert told == []
    assert collector.resources[0] == {"service.name": "orders", "service.instance.id": "1"}
    last = collector.spans[-1]
    assert (last.status.code, last.status.message) == (2, "REBALANCE_IN_PROGRESS")
    assert collector.spans[0].status.code == 0
    assert last.start_time_unix_nano == 1_764_400_002_000_000_000
    assert last.end_time_unix_nano - last.start_time_unix_nano == 100_000_000
    assert len(last.trace_id) == 16


def test_a_page_to_log_in_takes_no_spans() -> None:
    with otlp_collector() as collector:
        collector.status = 302
        export, told = exporting(collector.url)
        export(beat(1))
        export.end()
    assert (export.sent, export.lost) == (0, 1)
    assert "redirect" in told[0]


def test_a_collector_that_is_away_is_told_once_and_holds_up_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(span_export, "_TIMEOUT", 1.8)
    export, told = exporting(CLOSED)
    began = time.monotonic()
    for number in range(1000):
        export(beat(number))
    assert time.monotonic() - began < 1.0
    eventually_blocking(lambda: export.lost, lambda lost: lost >= 500)
    export(beat(1000))
    export.end()
    assert (export.sent, export.lost) == (0, 1001)
    assert len(told) == 1
    assert told[0].startswith("the collector takes no spans: ")
    assert "Connection refused" in told[0]
    assert export.summary.startswith("0 spans sent, 1001 not: ")


def test_one_that_takes_them_again_gets_the_next() -> None:
    with otlp_collector() as collector:
        collector.status = 400
        export, told = exporting(collector.url)
        export(beat(0))
        eventually_blocking(lambda: export.lost, lambda lost: lost == 1)
        collector.status = 200
        export(beat(1))
        eventually_blocking(lambda: export.sent, lambda sent: sent == 1)
        export.end()
    assert len(told) == 1
    assert export.summary.startswith("1 spans sent, 1 not: ")


def test_what_finds_no_room_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(span_export, "QUEUE_LIMIT", 3 * beat(0).weight)
    with otlp_collector() as collector:
        collector.open.clear()
        export, _ = exporting(collector.url)
        for number in range(5):
            export(beat(number))
        assert export.dropped == 2
        collector.open.set()
        export.end()
    assert export.summary == "3 spans sent, 2 RPCs without spans: too much passes"


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("127.0.0.1:4318", "'127.0.0.1:4318' is no collector: write http://HOST:4318"),
        ("grpc://a:4317", "is no collector"),
        ("http://", "is no collector"),
        ("http://a:b", "is no collector"),
        ("grpc://me:secret@a", "the URL is no collector"),
        ("http://me:secret@a:4318", "OTEL_EXPORTER_OTLP_HEADERS is not"),
    ],
)
def test_what_is_no_collector_is_refused(url: str, sentence: str) -> None:
    with pytest.raises(InvalidValue, match=sentence) as refused:
        endpoint(url)
    assert "secret" not in str(refused.value)


def test_a_url_with_a_path_stays() -> None:
    assert endpoint("http://a:4318/") == endpoint("http://a:4318") == "http://a:4318/v1/traces"
    assert endpoint("https://a/otlp/v1/traces") == "https://a/otlp/v1/traces"
