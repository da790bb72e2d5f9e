"""`kwire capture spans` and `kwire proxy --otlp`: the same RPC has the same span in both."""

from __future__ import annotations

import json
import socket
from pathlib import Path

from kwire.capture.editing import write_events
from kwire.messages.a12_heartbeat import HeartbeatRequest, HeartbeatResponse
from tests.support.cli.command import Command
from tests.support.cli.proxy_process import (
    ANSWER,
    ASKED,
    end_with_ctrl_c,
    fixed_answers_node,
    proxy,
)
from tests.support.proxy.capture.replay.recorded_flows import flow, records
from tests.support.proxy.otlp_collector import otlp_collector


def made(path: Path, count: int) -> Path:
    beats = (flow(HeartbeatRequest(), HeartbeatResponse(), 4, at=float(at)) for at in range(count))
    write_events(records(*beats), path)
    return path


def test_recorded_rpcs_become_spans(kwire: Command, tmp_path: Path) -> None:
    capture = str(made(tmp_path / "a.avro", 4))
    with otlp_collector() as collector:
        run = kwire("capture", "spans", capture, "--otlp", collector.url)
        assert run.out == f"3 spans sent to {collector.url}; 1 RPCs have no times, and no spans\n"
        first = [span.SerializeToString() for span in collector.spans]
        again = kwire("capture", "spans", capture, "--otlp", collector.url, "--json")
        assert json.loads(again.out) == {"spans": 3, "untimed": 1}
        assert [span.SerializeToString() for span in collector.spans[3:]] == first
        none = kwire("capture", "spans", capture, "--otlp", collector.url, "--view", "~api Vote")
        assert none.out.startswith("0 spans sent")


def test_a_collector_that_takes_none_is_an_error(kwire: Command, tmp_path: Path) -> None:
    capture = str(made(tmp_path / "a.avro", 3))
    with otlp_collector() as collector:
        collector.status = 400
        run = kwire("capture", "spans", capture, "--otlp", collector.url)
    assert run.code == 1
    assert run.err.startswith(f"Error: {collector.url} takes no spans: ")
    assert run.err.endswith("; 0 were sent before\n")
    wrong = kwire("capture", "spans", capture, "--otlp", "collector:4318")
    assert wrong.code == 2
    assert "'collector:4318' is no collector: write http://HOST:4318." in wrong.err


def test_the_proxy_sends_the_spans_that_its_recording_has(kwire: Command, tmp_path: Path) -> None:
    capture = tmp_path / "a.avro"
    with otlp_collector() as collector, fixed_answers_node() as node:
        options = ["--listen", f"7@127.0.0.1:0={node}", "-w", str(capture)]
        with proxy(*options, "--otlp", collector.url) as (run, address):
            with socket.create_connection(address, timeout=20) as client:
                client.sendall(ASKED)
                assert client.recv(len(ANSWER), socket.MSG_WAITALL) == ANSWER
            _, err = end_with_ctrl_c(run)
        assert "1 spans sent" in err
        assert collector.resources == [{"service.name": "kafka", "service.instance.id": "7"}]
        kwire("capture", "spans", str(capture), "--otlp", collector.url)
        live, recorded = collector.spans
        assert live == recorded
