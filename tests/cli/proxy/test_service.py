"""`kwire proxy --config` as a process: it starts, is changed, tells how it is, and drains."""

import asyncio
import json
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import PIPE

import pytest
import yaml

from kwire.capture import Damage, read_capture
from kwire.net.address import Address
from kwire.proxy.feed.receiver import Receiver
from kwire.proxy.feed.source import FeedEvent
from real_kafka import free_port
from tests.support.cli.command import KWIRE
from tests.support.cli.proxy_process import ANSWER, ASKED
from tests.support.cli.service_process import (
    PATIENCE,
    GatedNode,
    Running,
    ask,
    get,
    listener,
    running,
    service,
    write,
)


def test_it_serves_many_clusters_and_drains_at_sigterm(gated_node: GatedNode, file: Path) -> None:
    """Requests under way are answered, idle connections closed; the exit code is 0."""
    config = service(listener(gated_node.address))
    config["clusters"].append({"name": "other", "listeners": [listener(gated_node.address, 7)]})
    with running(write(file, config)) as run:
        url = run.metrics()
        first, second = run.listening(), run.listening()
        run.next_event("ready")
        assert get(f"{url}/health") == (200, "alive\n")
        assert get(f"{url}/ready") == (200, "ready\n")
        with (
            socket.create_connection(first, timeout=PATIENCE) as busy,
            socket.create_connection(second, timeout=PATIENCE) as idle,
        ):
            assert ask(busy) == ask(idle) == ANSWER
            gated_node.may_answer.clear()
            busy.sendall(ASKED)
            for _ in range(3):
                gated_node.asked.get(timeout=PATIENCE)
            run.process.send_signal(signal.SIGTERM)
            run.next_event("draining")
            assert idle.recv(1) == b""
            assert get(f"{url}/ready") == (503, "draining\n")
            with pytest.raises(OSError, match="refused"):
                socket.create_connection(first, timeout=PATIENCE)
            _, metrics = get(f"{url}/metrics")
            assert 'kwire_proxy_requests_total{api="ApiVersions"' in metrics
            assert 'cluster="other",node="7"' in metrics
            gated_node.may_answer.set()
            assert busy.recv(2 * len(ANSWER), socket.MSG_WAITALL) == ANSWER
        assert run.ended() == 0


def test_requests_that_are_not_answered_are_cut_at_the_deadline(
    gated_node: GatedNode, file: Path
) -> None:
    with (
        running(write(file, service(listener(gated_node.address)) | {"drain": "100ms"})) as run,
        asking(run, gated_node),
    ):
        assert run.end() == 0


@contextmanager
def asking(run: Running, gated_node: GatedNode) -> Iterator[None]:
    """A request is under way, and is not answered."""
    address = run.listening()
    run.next_event("ready")
    gated_node.may_answer.clear()
    with socket.create_connection(address, timeout=PATIENCE) as client:
        client.sendall(ASKED)
        gated_node.asked.get(timeout=PATIENCE)
        yield
    gated_node.may_answer.set()


def test_a_second_sigterm_waits_no_longer(gated_node: GatedNode, file: Path) -> None:
    with (
        running(write(file, service(listener(gated_node.address)))) as run,
        asking(run, gated_node),
    ):
        run.process.send_signal(signal.SIGTERM)
        run.next_event("draining")
        assert run.end() == 0


def test_sigterm_ends_it_while_it_still_waits_for_a_quorum(file: Path) -> None:
    waits = service(listener(f"127.0.0.1:{free_port()}"), serve={"mode": "metadata"})
    with running(write(file, waits)) as run:
        assert get(run.metrics() + "/ready") == (503, "starting\n")
        assert run.end() == 130


def test_ctrl_c_waits_for_nothing(gated_node: GatedNode, file: Path) -> None:
    with (
        running(write(file, service(listener(gated_node.address)))) as run,
        asking(run, gated_node),
    ):
        assert run.end(signal.SIGINT) == 130


def test_a_reload_changes_rules_and_listeners_and_touches_nothing_else(
    gated_node: GatedNode, file: Path
) -> None:
    rules = file.with_name("rules.yaml")
    write(rules, "rules: []")
    kept, gone = listener(gated_node.address, 1), listener(gated_node.address, 2)
    with running(write(file, service(kept, gone, rules="rules.yaml", scripts=[]))) as run:
        url = run.metrics()
        addresses = run.listening(), run.listening()
        run.next_event("ready")
        with (
            socket.create_connection(addresses[0], timeout=PATIENCE) as stays,
            socket.create_connection(addresses[1], timeout=PATIENCE) as goes,
        ):
            assert ask(stays) == ask(goes) == ANSWER
            write(rules, "rules: [{name: slow, match: ~api ApiVersions, delay: 1ms}]")
            run.reload(service(kept, listener(gated_node.address, 3), rules="rules.yaml"))
            added = run.listening()
            run.next_event("the configuration was loaded again")
            assert goes.recv(1) == b""
            assert ask(stays) == ANSWER
            with socket.create_connection(added, timeout=PATIENCE) as new:
                assert ask(new) == ANSWER
            with pytest.raises(OSError, match="refused"):
                socket.create_connection(addresses[1], timeout=PATIENCE)
        _, metrics = get(f"{url}/metrics")
        assert 'kwire_proxy_connections{cluster="orders",node="3"}' in metrics
        assert run.end() == 0


def test_a_listener_keeps_its_address_where_only_its_node_moves(
    gated_node: GatedNode, file: Path
) -> None:
    at = f"127.0.0.1:{free_port()}"
    before = service(listener("127.0.0.1:1", listen=at))
    with running(write(file, before)) as run:
        run.next_event("ready")
        run.reload(service(listener(gated_node.address, listen=at)))
        run.next_event("the configuration was loaded again")
        host, _, port = at.rpartition(":")
        with socket.create_connection((host, int(port)), timeout=PATIENCE) as client:
            assert ask(client) == ANSWER
        assert run.end() == 0


BROKEN = (
    ("clusters: [", "this is no YAML"),
    ("clustres: []", "clustres: there is no such key here"),
    ("clusters: [{listeners: []}]", "clusters[1].listeners: at least one is needed"),
)


def test_a_file_that_cannot_be_used_is_reported_and_all_stays(
    gated_node: GatedNode, file: Path
) -> None:
    at = f"127.0.0.1:{free_port()}"
    with (
        socket.create_server(("127.0.0.1", 0)) as taken,
        running(write(file, service(listener(gated_node.address, 1, at)))) as run,
    ):
        address = run.listening()
        run.next_event("ready")
        busy = f"127.0.0.1:{taken.getsockname()[1]}"
        halfway = service(
            listener(gated_node.address, 2, at), listener(gated_node.address, 3, busy)
        )
        restart = service(listener(gated_node.address, 1, at), rewrite_endpoints=True)
        for text, said in (
            *BROKEN,
            (yaml.safe_dump(halfway), f"cannot listen at {busy}"),
            (yaml.safe_dump(restart), "another rewrite_endpoints needs a restart"),
        ):
            run.reload(text)
            assert "all stays as it was" in run.next_event(said)["message"]
            with socket.create_connection(address, timeout=PATIENCE) as client:
                assert ask(client) == ANSWER
        assert run.end() == 0


async def test_viewers_see_what_passes_and_let_go_what_is_held(
    gated_node: GatedNode, file: Path
) -> None:
    at = Address("127.0.0.1", free_port())
    more = {"feed": {"listen": str(at)}, "hold": "~api ApiVersions"}
    seen: asyncio.Queue[FeedEvent] = asyncio.Queue()
    with running(write(file, service(listener(gated_node.address), **more))) as run:
        address = await asyncio.to_thread(run.listening)
        async with asyncio.timeout(PATIENCE), Receiver(at, seen.put_nowait) as receiver:
            reader, writer = await asyncio.open_connection(*address)
            writer.write(ASKED)
            while not (one := await seen.get()).held:
                pass
            await receiver.release(one.number)
            assert await reader.readexactly(len(ANSWER)) == ANSWER
            writer.close()
        assert await asyncio.to_thread(run.end) == 0


def test_it_records_shows_and_logs_what_passes(gated_node: GatedNode, file: Path) -> None:
    dead = listener(f"127.0.0.1:{free_port()}", 5)
    record = {"path": "what.avro", "only": "~api Vote"}
    config = service(listener(gated_node.address), dead, record=record)
    config["show"] = {"json": True, "api": ["apiversions"]}
    with running(write(file, config)) as run:
        with socket.create_connection(run.listening(), timeout=PATIENCE) as client:
            assert ask(client) == ANSWER
        assert run.process.stdout
        shown = next(line for line in run.process.stdout if '"flow"' in line)
        assert json.loads(shown)["api"] == "ApiVersions"
        with socket.create_connection(run.listening(), timeout=PATIENCE) as client:
            assert client.recv(1) == b""
        line = run.next_event("does not accept connections")
        wanted = ("level", "event", "cluster", "node")
        assert [line[key] for key in wanted] == ["warning", "refused", "orders", 5]
        assert run.end() == 0
    records = list(read_capture(file.with_name("what.avro")))
    assert records
    assert not [entry for entry in records if isinstance(entry, Damage) or entry.kind == "request"]


def test_without_a_file_sigterm_drains_and_metrics_and_logs_are_there_as_well(
    gated_node: GatedNode,
) -> None:
    port = free_port()
    command = [str(KWIRE), "proxy", "--listen", f"1@127.0.0.1:0={gated_node.address}"]
    command += ["--metrics", f"127.0.0.1:{port}", "--log-format", "json"]
    command += ["--listen", f"2@127.0.0.1:0=127.0.0.1:{free_port()}"]
    with subprocess.Popen(command, stdout=PIPE, stderr=PIPE, text=True) as run:
        assert run.stderr
        listening = (line for line in run.stderr if line.startswith("listening at "))
        at = [int(next(listening).split(" ")[2].rpartition(":")[2]) for _ in range(2)]
        with socket.create_connection(("127.0.0.1", at[0]), timeout=PATIENCE) as client:
            assert ask(client) == ANSWER
        with socket.create_connection(("127.0.0.1", at[1]), timeout=PATIENCE) as client:
            assert client.recv(1) == b""
        _, metrics = get(f"http://127.0.0.1:{port}/metrics")
        run.terminate()
        _, err = run.communicate(timeout=PATIENCE)
    assert run.returncode == 0
    assert "1 RPCs of 1 APIs on 2 connections" in err
    logged = [json.loads(line) for line in err.splitlines() if line.startswith("{")]
    assert [(one["node"], one["level"]) for one in logged if "event" in one] == [(2, "warning")]
    assert 'kwire_proxy_connection_events_total{cluster="",event="opened",node="1"} 1.0' in metrics
