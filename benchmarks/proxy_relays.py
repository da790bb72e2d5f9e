"""The relays that are measured, a process each: the proxy in three modes of work, and its peers."""

from __future__ import annotations

import asyncio
import signal
import socket
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

from kwire.proxy import (
    Address,
    Copies,
    Listener,
    Proxy,
    Ring,
    Sink,
    count_everything,
    tap_everything,
)
from kwire.proxy.capture.recorder import Recorder, files_at
from kwire.proxy.data_path.copies import COPY_LIMIT
from kwire.proxy.data_path.side import READ_SIZE
from kwire.proxy.service.metrics import Metrics
from proxy_loads import Node

OURS = ("pass", "pass by asyncio", "tap", "record", "record 64 KiB")
"""Counted for Prometheus only, as kafka-proxy does, in C or as where no C is; copied into a ring,
too; recorded, too, whole or no more than this of each frame."""

RECORD_LIMITS = {"record": None, "record 64 KiB": 64 * 1024}

LIKE_OURS = READ_SIZE
"""Bytes that the proxy reads at once, and that kafka-proxy may be told to."""

PATIENCE = 30.0


async def serve_node() -> None:
    """The node, until it is killed."""
    server = await asyncio.get_running_loop().create_server(Node, "127.0.0.1", 0)
    await _announce(server.sockets[0].getsockname()[1])


async def serve_streams(upstream: int) -> None:
    """A relay as one writes it with asyncio's streams; it looks at nothing but sizes."""

    async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            size = await reader.readexactly(4)
            frame = await reader.readexactly(int.from_bytes(size, "big"))
            writer.write(size + frame)
            await writer.drain()

    async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", upstream)
        pumps = asyncio.gather(pump(reader, far_writer), pump(far_reader, writer))
        try:
            await pumps
        except (asyncio.IncompleteReadError, ConnectionError):
            pumps.cancel()
        writer.close()
        far_writer.close()

    server = await asyncio.start_server(relay, "127.0.0.1", 0)
    await _announce(server.sockets[0].getsockname()[1])


async def serve_proxy(upstream: int, how: str) -> None:
    """The proxy; how: one of OURS."""
    wants = count_everything if how.startswith("pass") else tap_everything
    listener = Listener(node_id=1, upstream=Address("127.0.0.1", upstream))
    metrics = Metrics()
    sinks: list[Sink] = [metrics]
    with ExitStack() as ending:
        if how == "tap":
            sinks.append(Ring())
        if how in RECORD_LIMITS:
            files = files_at(Path(ending.enter_context(TemporaryDirectory())))
            recorder = Recorder(files, frame_limit=RECORD_LIMITS[how])
            ending.callback(_say_dropped, how, recorder)
            sinks.append(ending.enter_context(recorder))
        copies = Copies(RECORD_LIMITS.get(how) or COPY_LIMIT)
        async with Proxy(
            [listener],
            sinks=sinks,
            wants=wants,
            copies=copies,
            counted=metrics.count,
            native=how != "pass by asyncio",
        ) as proxy:
            await _announce(proxy.addresses[listener].port)


def _say_dropped(how: str, recorder: Recorder) -> None:
    if recorder.dropped:
        lost, all_events = recorder.dropped, recorder.dropped + recorder.events
        sys.stderr.write(
            f"{how}: {lost} of {all_events} events found no room: it cost too little\n"
        )


async def _announce(port: int) -> None:
    sys.stdout.write(f"{port}\n")
    sys.stdout.flush()
    await asyncio.Event().wait()


def serve(what: str, upstream: int) -> None:
    """Be one of the servers, until SIGTERM or Ctrl-C."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        if what == "node":
            asyncio.run(serve_node())
        elif what == "streams":
            asyncio.run(serve_streams(upstream))
        else:
            asyncio.run(serve_proxy(upstream, what))
    except KeyboardInterrupt:
        pass


class Server:
    """A server in a process of its own, and its port."""

    def __init__(self, command: list[str], port: int | None = None) -> None:
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self.port = int(self._process.stdout.readline()) if port is None else port
        self.pid = self._process.pid

    def cpu(self) -> float:
        """Seconds of CPU so far (Linux: the clock that clock_getcpuclockid names)."""
        return time.clock_gettime(~self.pid << 3 | 2)

    def memory(self, key: str = "VmRSS") -> int:
        """Bytes of memory now, or at most so far with VmHWM."""
        lines = Path(f"/proc/{self.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{key}:"))

    def close(self) -> None:
        self._process.terminate()
        try:
            self._process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.communicate()


def ours(what: str, upstream: int = 0) -> Server:
    """The node, the relay of streams, or the proxy."""
    main = Path(__file__).with_name("proxy_cost.py")
    return Server([sys.executable, str(main), "--serve", what, str(upstream)])


def kafka_proxy(binary: Path, upstream: int, buffers: int | None = None) -> Server:
    """grepplabs/kafka-proxy with its defaults, or with buffers of this size."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    mapping = f"127.0.0.1:{upstream},127.0.0.1:{port}"
    options = ["--bootstrap-server-mapping", mapping, "--default-listener-ip", "127.0.0.1"]
    options += ["--http-disable", "--dynamic-listeners-disable", "--log-level", "error"]
    for side in ("request", "response") if buffers else ():
        options += [f"--proxy-{side}-buffer-size", str(buffers)]
    server = Server([str(binary), "server", *options], port)
    _wait_for(port)
    return server


def _wait_for(port: int) -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except ConnectionRefusedError:
            time.sleep(0.05)
        else:
            return
    raise TimeoutError("kafka-proxy does not listen")
