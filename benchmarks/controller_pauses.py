"""Measure the longest pause between two answers while a controller does something long.

    python benchmarks/controller_pauses.py [--records 1000000] [--each 400000] [--mib 99]

Every controller is a process of its own. DescribeQuorum is asked all the time from another
connection; what counts is the slowest answer. With `--each` records three controllers are started
together, and elections are counted.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from controller_load import fill
from kwire.codec.declaration import Request
from kwire.messages.a19_create_topics import CreatableTopic, CreateTopicsRequest
from kwire.messages.a44_incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from kwire.messages.a55_describe_quorum import (
    DescribeQuorumRequest,
    DescribeQuorumResponse,
    PartitionData,
    TopicData,
)
from kwire.messages.metadata_topic import METADATA_TOPIC
from kwire.net.frames import decode_response, encode_request
from kwire.testing.quorum import FIRST_ID, Quorum
from simulated_broker import SimulatedBroker

DESCRIBE = DescribeQuorumRequest(
    topics=[TopicData(topic_name=METADATA_TOPIC, partitions=[PartitionData()])]
)
SETTINGS = {"broker.session.timeout.ms": "3600000"}
PATIENCE = 900.0
Address = tuple[str, int]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--each", type=int, default=400_000)
    parser.add_argument("--mib", type=int, default=99)
    options = parser.parse_args()
    _print(f"load of the machine before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    if options.records:
        _print(f"log of {options.records:,} records: {_replayed(options.records)}")
    if options.each:
        _print(f"three with {options.each:,} records: {_restarted(options.each)}")
    if options.mib:
        _requests(options.mib)


def _replayed(records: int) -> str:
    with _controllers(1, records) as (addresses, _), Probe(addresses[0]) as probe:
        took = _until_served(addresses)
        return f"serves after {took:.1f} s, slowest answer {probe.slowest * 1000:.0f} ms"


def _restarted(records: int) -> str:
    with _controllers(3, records) as (addresses, epoch), Probe(addresses[0]) as probe:
        took = _until_served(addresses)
        last = max(_epoch(address) for address in addresses)
        slowest = probe.slowest * 1000
        return f"served after {took:.1f} s in epoch {last} of {epoch}, slowest {slowest:.0f} ms"


def _requests(mib: int) -> None:
    with _controllers(1, 0) as (addresses, _):
        _until_served(addresses)
        asyncio.run(_register(addresses[0]))
        rows = [
            ("CreateTopics of 4,900 topics", _topics(4900)),
            ("CreateTopics of 100,000 topics", _topics(100_000)),
            (f"CreateTopics of {mib} MiB", _topics(mib * (1 << 20) // 260, "{:0249x}")),
        ]
        for name, request in rows:
            frame = encode_request(request, 7, correlation_id=1)
            del request
            with Probe(addresses[0]) as probe, socket.create_connection(addresses[0]) as asking:
                began = time.perf_counter()
                asking.sendall(frame)
                size = len(_frame(asking))
                took = time.perf_counter() - began
            slowest = probe.slowest * 1000
            _print(f"{name}: {took:.1f} s, answer of {size:,} bytes, slowest {slowest:.0f} ms")


def _topics(count: int, name: str = "{:05x}") -> CreateTopicsRequest:
    topics = [
        CreatableTopic(name=name.format(n), num_partitions=1, replication_factor=1)
        for n in range(count)
    ]
    return CreateTopicsRequest(topics=topics, timeout_ms=600_000)


async def _register(address: Address) -> None:
    await (await SimulatedBroker.open(1, *address)).close()


class Probe:
    """Asks all the time; slowest: seconds of the slowest answer."""

    def __init__(self, address: Address) -> None:
        self.slowest = 0.0
        self._address = address
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> Probe:
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        with _connected(self._address) as connection:
            while not self._over.wait(0.005):
                began = time.perf_counter()
                _ask(connection, DESCRIBE, 2)
                self.slowest = max(self.slowest, time.perf_counter() - began)


@contextmanager
def _controllers(size: int, records: int) -> Iterator[tuple[list[Address], int]]:
    """Controllers that have just been started on logs of so many records, and their last epoch."""
    with tempfile.TemporaryDirectory(prefix="kwire-pauses-") as name:
        quorum, epoch = asyncio.run(_prepare(size, records, Path(name)))
        running: list[subprocess.Popen[bytes]] = []
        program = "from kwire.cli.main import main; main()"
        try:
            for node_id in quorum.members:
                path = Path(name, f"{node_id}.properties")
                properties = quorum.server_properties(node_id)
                path.write_text("".join(f"{key}={value}\n" for key, value in properties.items()))
                command = [sys.executable, "-c", program, "controller", "run", str(path)]
                running.append(subprocess.Popen(command, stderr=subprocess.DEVNULL))
            yield list(quorum.addresses.values()), epoch
        finally:
            for process in running:
                process.terminate()
            for process in running:
                process.wait()


async def _prepare(size: int, records: int, folder: Path) -> tuple[Quorum, int]:
    quorum = Quorum(size, folder=folder, properties=SETTINGS)
    await quorum.start()
    leader = await quorum.active_controller()
    epoch, end = leader.raft.epoch, leader.raft.end_offset
    for node in quorum.nodes.values():
        await node.metadata.until(lambda node=node: node.metadata.offset >= end)  # type: ignore[misc]
    await quorum.stop()
    if records:
        for node_id in quorum.members:
            fill(folder / f"node-{node_id}" / "__cluster_metadata-0", epoch, records)
    assert FIRST_ID in quorum.members
    return quorum, epoch


def _until_served(addresses: list[Address]) -> float:
    """Seconds until one of the controllers takes a write."""
    began = time.perf_counter()
    connections = [_connected(address) for address in addresses]
    config = AlterableConfig(name="log.retention.ms", value="1000")
    write = IncrementalAlterConfigsRequest(
        resources=[AlterConfigsResource(resource_type=4, configs=[config])]
    )
    while time.perf_counter() - began < PATIENCE:
        for connection in connections:
            answer = _ask(connection, write, 1)
            assert isinstance(answer, IncrementalAlterConfigsResponse)
            if answer.responses[0].error_code == 0:
                for other in connections:
                    other.close()
                return time.perf_counter() - began
        time.sleep(0.1)
    raise TimeoutError("nobody leads")


def _epoch(address: Address) -> int:
    with _connected(address) as connection:
        answer = _ask(connection, DESCRIBE, 2)
        assert isinstance(answer, DescribeQuorumResponse)
        return answer.topics[0].partitions[0].leader_epoch


def _connected(address: Address) -> socket.socket:
    while True:
        try:
            return socket.create_connection(address, PATIENCE)
        except ConnectionRefusedError:
            time.sleep(0.02)


def _ask(connection: socket.socket, request: Request, version: int) -> object:
    connection.sendall(encode_request(request, version, correlation_id=1))
    return decode_response(_frame(connection), type(request).key or 0, version).body


def _frame(connection: socket.socket) -> bytes:
    size = int.from_bytes(_exactly(connection, 4), "big")
    return _exactly(connection, size)


def _exactly(connection: socket.socket, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        chunk = connection.recv(min(size - len(data), 1 << 20))
        assert chunk, "the controller closed the connection"
        data += chunk
    return bytes(data)


def _print(text: str) -> None:
    print(text, flush=True)  # noqa: T201  # a script's output


if __name__ == "__main__":
    main()
