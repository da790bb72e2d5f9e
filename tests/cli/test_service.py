"""`kwire proxy --config` as a process: it starts, is changed, tells how it is, and drains."""

import asyncio
import json
import queue
import signal
import socket
import subprocess
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from subprocess import PIPE
from typing import Any, Self

import pytest
import yaml

from kwire.capture import Damage, read_capture
from kwire.net.address import Address
from kwire.proxy.feed.receiver import Receiver, Watched
from real_kafka import free_port
from tests.cli.test_proxy import ANSWER, ASKED
from tests.support.cli.command import KWIRE

PATIENCE = 60


class Node:
    """A peer that answers ApiVersions requests when it may. asked: counts them."""

    def __init__(self) -> None:
        self._server = socket.create_server(("127.0.0.1", 0))
        self._threads: list[threading.Thread] = []
        self.address = f"127.0.0.1:{self._server.getsockname()[1]}"
        self.asked: queue.SimpleQueue[None] = queue.SimpleQueue()
        self.may_answer = threading.Event()
        self.may_answer.set()

    def __enter__(self) -> Self:
        self._start(self._accept)
        return self

    def __exit__(self, *_: object) -> None:
        self.may_answer.set()
        self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()
        for thread in self._threads:
            thread.join(PATIENCE)

    def _start(self, run: Any, *arguments: Any) -> None:
        thread = threading.Thread(target=run, args=arguments)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while True:
            try:
                peer, _ = self._server.accept()
            except OSError:
                return
            self._start(self._serve, peer)

    def _serve(self, peer: socket.socket) -> None:
        with peer, suppress(OSError):
            peer.settimeout(PATIENCE)
            while len(peer.recv(len(ASKED), socket.MSG_WAITALL)) == len(ASKED):
                self.asked.put(None)
                assert self.may_answer.wait(PATIENCE)
                peer.sendall(ANSWER)


class Running:
    """The command as a process, and the lines that it logs, as they come."""

    def __init__(self, config: Path) -> None:
        self.config = config
        command = [str(KWIRE), "proxy", "--config", str(config)]
        self.process = subprocess.Popen(command, stdout=PIPE, stderr=PIPE, text=True)
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stderr
        for line in self.process.stderr:
            self._lines.put(line)

    def told(self, text: str) -> dict[str, Any]:
        """The next event whose message has this text."""
        while True:
            line: dict[str, Any] = json.loads(self._lines.get(timeout=PATIENCE))
            if text in line["message"]:
                return line

    def listening(self) -> tuple[str, int]:
        """The next address at which it listens."""
        host, _, port = self.told("listening at ")["message"].split(" ")[2].rpartition(":")
        return host, int(port)

    def metrics(self) -> str:
        """Where metrics are, as a URL without a path."""
        url: str = self.told("metrics are at ")["message"].split(" ")[3]
        return url.removesuffix("/metrics")

    def reload(self, config: dict[str, Any] | str) -> None:
        write(self.config, config)
        self.process.send_signal(signal.SIGHUP)

    def end(self, number: signal.Signals = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.ended()

    def ended(self) -> int:
        code = self.process.wait(PATIENCE)
        self._reader.join(PATIENCE)
        return code


@contextmanager
def running(config: Path) -> Iterator[Running]:
    run = Running(config)
    try:
        yield run
    finally:
        if run.process.poll() is None:
            run.process.kill()
        run.ended()
        assert run.process.stdout
        assert run.process.stderr
        run.process.stdout.close()
        run.process.stderr.close()


def write(path: Path, config: dict[str, Any] | str) -> Path:
    path.write_text(config if isinstance(config, str) else yaml.safe_dump(config))
    return path


def listener(upstream: str, node: int = 1, listen: str = "127.0.0.1:0") -> dict[str, Any]:
    return {"listen": listen, "upstream": upstream, "node": node}


def service(*listeners: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A configuration of one cluster; more: keys of the cluster."""
    clusters = [{"name": "orders", "listeners": list(listeners), **more}]
    return {"clusters": clusters, "metrics": "127.0.0.1:0", "log": {"format": "json"}}


def get(url: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(url, timeout=PATIENCE) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def ask(client: socket.socket) -> bytes:
    client.sendall(ASKED)
    return client.recv(len(ANSWER), socket.MSG_WAITALL)


@pytest.fixture
def node() -> Iterator[Node]:
    with Node() as one:
        yield one


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "kwire-proxy.yaml"


def test_it_serves_many_clusters_and_drains_at_sigterm(node: Node, file: Path) -> None:
    """What is under way is answered, what is idle is closed, and then it ends with 0."""
    config = service(listener(node.address))
    config["clusters"].append({"name": "other", "listeners": [listener(node.address, 7)]})
    with running(write(file, config)) as run:
        url = run.metrics()
        first, second = run.listening(), run.listening()
        run.told("ready")
        assert get(f"{url}/health") == (200, "alive\n")
        assert get(f"{url}/ready") == (200, "ready\n")
        with (
            socket.create_connection(first, timeout=PATIENCE) as busy,
            socket.create_connection(second, timeout=PATIENCE) as idle,
        ):
            assert ask(busy) == ask(idle) == ANSWER
            node.may_answer.clear()
            busy.sendall(ASKED)
            for _ in range(3):
                node.asked.get(timeout=PATIENCE)
            run.process.send_signal(signal.SIGTERM)
            run.told("draining")
            assert idle.recv(1) == b""
            assert get(f"{url}/ready") == (503, "draining\n")
            with pytest.raises(OSError, match="refused"):
                socket.create_connection(first, timeout=PATIENCE)
            _, metrics = get(f"{url}/metrics")
            assert 'kwire_proxy_requests_total{api="ApiVersions"' in metrics
            assert 'cluster="other",node="7"' in metrics
            node.may_answer.set()
            assert busy.recv(2 * len(ANSWER), socket.MSG_WAITALL) == ANSWER
        assert run.ended() == 0


def test_requests_that_are_not_answered_are_cut_at_the_deadline(node: Node, file: Path) -> None:
    with (
        running(write(file, service(listener(node.address)) | {"drain": "100ms"})) as run,
        asking(run, node),
    ):
        assert run.end() == 0


@contextmanager
def asking(run: Running, node: Node) -> Iterator[None]:
    """A request is under way, and is not answered."""
    address = run.listening()
    run.told("ready")
    node.may_answer.clear()
    with socket.create_connection(address, timeout=PATIENCE) as client:
        client.sendall(ASKED)
        node.asked.get(timeout=PATIENCE)
        yield
    node.may_answer.set()


def test_a_second_sigterm_waits_no_longer(node: Node, file: Path) -> None:
    with running(write(file, service(listener(node.address)))) as run, asking(run, node):
        run.process.send_signal(signal.SIGTERM)
        run.told("draining")
        assert run.end() == 0


def test_sigterm_ends_it_while_it_still_waits_for_a_quorum(file: Path) -> None:
    waits = service(listener(f"127.0.0.1:{free_port()}"), serve={"mode": "metadata"})
    with running(write(file, waits)) as run:
        assert get(run.metrics() + "/ready") == (503, "starting\n")
        assert run.end() == 130


def test_ctrl_c_waits_for_nothing(node: Node, file: Path) -> None:
    with running(write(file, service(listener(node.address)))) as run, asking(run, node):
        assert run.end(signal.SIGINT) == 130


def test_a_reload_changes_rules_and_listeners_and_touches_nothing_else(
    node: Node, file: Path
) -> None:
    rules = file.with_name("rules.yaml")
    write(rules, "rules: []")
    kept, gone = listener(node.address, 1), listener(node.address, 2)
    with running(write(file, service(kept, gone, rules="rules.yaml", scripts=[]))) as run:
        url = run.metrics()
        addresses = run.listening(), run.listening()
        run.told("ready")
        with (
            socket.create_connection(addresses[0], timeout=PATIENCE) as stays,
            socket.create_connection(addresses[1], timeout=PATIENCE) as goes,
        ):
            assert ask(stays) == ask(goes) == ANSWER
            write(rules, "rules: [{name: slow, match: ~api ApiVersions, delay: 1ms}]")
            run.reload(service(kept, listener(node.address, 3), rules="rules.yaml"))
            added = run.listening()
            run.told("the configuration was loaded again")
            assert goes.recv(1) == b""
            assert ask(stays) == ANSWER
            with socket.create_connection(added, timeout=PATIENCE) as new:
                assert ask(new) == ANSWER
            with pytest.raises(OSError, match="refused"):
                socket.create_connection(addresses[1], timeout=PATIENCE)
        _, metrics = get(f"{url}/metrics")
        assert 'kwire_proxy_connections{cluster="orders",node="3"}' in metrics
        assert run.end() == 0


def test_a_listener_keeps_its_address_where_only_its_node_moves(node: Node, file: Path) -> None:
    at = f"127.0.0.1:{free_port()}"
    before = service(listener("127.0.0.1:1", listen=at))
    with running(write(file, before)) as run:
        run.told("ready")
        run.reload(service(listener(node.address, listen=at)))
        run.told("the configuration was loaded again")
        host, _, port = at.rpartition(":")
        with socket.create_connection((host, int(port)), timeout=PATIENCE) as client:
            assert ask(client) == ANSWER
        assert run.end() == 0


BROKEN = (
    ("clusters: [", "this is no YAML"),
    ("clustres: []", "clustres: there is no such key here"),
    ("clusters: [{listeners: []}]", "clusters[1].listeners: at least one is needed"),
)


def test_a_file_that_cannot_be_used_is_reported_and_all_stays(node: Node, file: Path) -> None:
    at = f"127.0.0.1:{free_port()}"
    with (
        socket.create_server(("127.0.0.1", 0)) as taken,
        running(write(file, service(listener(node.address, 1, at)))) as run,
    ):
        address = run.listening()
        run.told("ready")
        busy = f"127.0.0.1:{taken.getsockname()[1]}"
        halfway = service(listener(node.address, 2, at), listener(node.address, 3, busy))
        restart = service(listener(node.address, 1, at), rewrite_endpoints=True)
        for text, said in (
            *BROKEN,
            (yaml.safe_dump(halfway), f"cannot listen at {busy}"),
            (yaml.safe_dump(restart), "another rewrite_endpoints needs a restart"),
        ):
            run.reload(text)
            assert "all stays as it was" in run.told(said)["message"]
            with socket.create_connection(address, timeout=PATIENCE) as client:
                assert ask(client) == ANSWER
        assert run.end() == 0


async def test_viewers_see_what_passes_and_let_go_what_is_held(node: Node, file: Path) -> None:
    at = Address("127.0.0.1", free_port())
    more = {"feed": {"listen": str(at)}, "hold": "~api ApiVersions"}
    seen: asyncio.Queue[Watched] = asyncio.Queue()
    with running(write(file, service(listener(node.address), **more))) as run:
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


def test_it_records_shows_and_logs_what_passes(node: Node, file: Path) -> None:
    dead = listener(f"127.0.0.1:{free_port()}", 5)
    record = {"path": "what.avro", "only": "~api Vote"}
    config = service(listener(node.address), dead, record=record)
    config["show"] = {"json": True, "api": ["apiversions"]}
    with running(write(file, config)) as run:
        with socket.create_connection(run.listening(), timeout=PATIENCE) as client:
            assert ask(client) == ANSWER
        assert run.process.stdout
        shown = next(line for line in run.process.stdout if '"flow"' in line)
        assert json.loads(shown)["api"] == "ApiVersions"
        with socket.create_connection(run.listening(), timeout=PATIENCE) as client:
            assert client.recv(1) == b""
        line = run.told("does not accept connections")
        wanted = ("level", "event", "cluster", "node")
        assert [line[key] for key in wanted] == ["warning", "refused", "orders", 5]
        assert run.end() == 0
    records = list(read_capture(file.with_name("what.avro")))
    assert records
    assert not [one for one in records if isinstance(one, Damage) or one.kind == "request"]


def test_without_a_file_sigterm_drains_and_metrics_and_logs_are_there_as_well(node: Node) -> None:
    port = free_port()
    command = [str(KWIRE), "proxy", "--listen", f"1@127.0.0.1:0={node.address}"]
    command += ["--metrics", f"127.0.0.1:{port}", "--log-format", "json"]
    command += ["--listen", f"2@127.0.0.1:0=127.0.0.1:{free_port()}"]
    with subprocess.Popen(command, stdout=PIPE, stderr=PIPE, text=True) as run:
        assert run.stderr
        at = [int(run.stderr.readline().split(" ")[2].rpartition(":")[2]) for _ in range(2)]
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
