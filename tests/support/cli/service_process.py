"""`kwire proxy --config` as a process, its log lines as they come, and a node behind it."""

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

import yaml

from tests.support.cli.command import KWIRE
from tests.support.cli.proxy_process import ANSWER, ASKED

PATIENCE = 60


class GatedNode:
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

    def next_event(self, text: str) -> dict[str, Any]:
        """The next event whose message has this text."""
        while True:
            line = self.next_line()
            if text in line["message"]:
                return line

    def next_line(self) -> dict[str, Any]:
        """Return the next event."""
        line: dict[str, Any] = json.loads(self._lines.get(timeout=PATIENCE))
        return line

    def listening(self) -> tuple[str, int]:
        """The next address at which it listens."""
        host, _, port = self.next_event("listening at ")["message"].split(" ")[2].rpartition(":")
        return host, int(port)

    def metrics(self) -> str:
        """Wait for the address of the metrics; return it as a URL without a path."""
        url: str = self.next_event("metrics are at ")["message"].split(" ")[3]
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
    # By way of JSON: parts that are one object would become anchors, which are not taken.
    text = config if isinstance(config, str) else yaml.safe_dump(json.loads(json.dumps(config)))
    path.write_text(text)
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
