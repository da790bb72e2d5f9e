"""Cost of watching: CPU of a proxy with a feed, and of a viewer, at a steady rate of requests.

    python benchmarks/watch_cost.py [--rate 100] [--seconds 20]

A client sends what brokers and controllers send a controller, at that rate, through a proxy that is
a process of its own, to a node that answers from a table. Each row is a share of one core: CPU time
of that process over the time that passed, start-up left out. The viewers are `kwire watch` itself:
as lines, which decode every message, and as the screen, in a terminal of 150 columns.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import pty
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from fcntl import ioctl
from itertools import count, cycle
from pathlib import Path
from random import Random
from struct import pack
from subprocess import DEVNULL, PIPE
from termios import TIOCSWINSZ
from threading import Thread
from uuid import UUID

from kwire.batches import Record, build_batch
from kwire.batches.metadata_records import VersionedRecord
from kwire.codec.declaration import Request, Response
from kwire.messages import a01_fetch as fetch
from kwire.messages import a55_describe_quorum as quorum
from kwire.messages.a56_alter_partition import AlterPartitionRequest, AlterPartitionResponse
from kwire.messages.a63_broker_heartbeat import BrokerHeartbeatRequest, BrokerHeartbeatResponse
from kwire.messages.metadata_topic import METADATA_TOPIC, METADATA_TOPIC_ID
from kwire.messages.records.partition_change import PartitionChangeRecord
from kwire.net.address import Address
from kwire.net.frames import encode_request, encode_response, request_head
from kwire.proxy import Filters, Listener, Proxy, pass_everything
from kwire.proxy.feed.commands import Controls
from kwire.proxy.feed.sender import Feed
from kwire.proxy.filters.intercept import Intercept
from kwire.proxy.filters.rule_set import RuleSet

HOST = "127.0.0.1"

WARM_UP = 6.0
"""Seconds that are not counted: processes start, and make a decoder of each message."""

TICKS = os.sysconf("SC_CLK_TCK")


def _fetch() -> tuple[Request, Response, int]:
    """A follower gets three changes of partitions."""
    part = fetch.FetchPartition(current_leader_epoch=5, fetch_offset=1000)
    topic = fetch.FetchTopic(topic_id=METADATA_TOPIC_ID, partitions=[part])
    replica = fetch.ReplicaState(replica_id=3001)
    request = fetch.FetchRequest(replica_state=replica, max_wait_ms=500, topics=[topic])
    change = PartitionChangeRecord(topic_id=UUID(int=77), isr=(1, 2, 3), leader=1)
    value = VersionedRecord(record=change, version=0).encode()
    data = fetch.PartitionData(high_watermark=1000, records=build_batch([Record(value=value)] * 3))
    answer = fetch.FetchableTopicResponse(topic_id=METADATA_TOPIC_ID, partitions=[data])
    return request, fetch.FetchResponse(responses=[answer]), 17


def _quorum() -> tuple[Request, Response, int]:
    """Three voters and three observers are described."""
    asked = quorum.TopicData(
        topic_name=METADATA_TOPIC, partitions=[quorum.PartitionData(partition_index=0)]
    )
    states = [quorum.ReplicaState(replica_id=3000 + n, log_end_offset=1000) for n in range(6)]
    data = quorum.ResponsePartitionData(
        leader_id=3000,
        leader_epoch=5,
        high_watermark=1000,
        current_voters=states[:3],
        observers=states[3:],
    )
    answer = quorum.ResponseTopicData(topic_name=METADATA_TOPIC, partitions=[data])
    request = quorum.DescribeQuorumRequest(topics=[asked])
    return request, quorum.DescribeQuorumResponse(topics=[answer]), 2


def exchanges() -> list[tuple[Request, Response, int]]:
    """Of ten RPCs six are Fetches of the metadata log, two heartbeats."""
    heartbeat = BrokerHeartbeatRequest(broker_id=1), BrokerHeartbeatResponse(), 1
    alter = AlterPartitionRequest(broker_id=1), AlterPartitionResponse(), 3
    return [*[_fetch()] * 3, heartbeat, _quorum(), *[_fetch()] * 3, heartbeat, alter]


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """A node that has an answer for each API."""
    answers = {type(request).key: (response, v) for request, response, v in exchanges()}
    encoded = {
        key: encode_response(response, version, correlation_id=0)
        for key, (response, version) in answers.items()
    }
    while size := await reader.read(4):
        frame = await reader.readexactly(int.from_bytes(size, "big"))
        known = encoded[request_head(frame).key]
        writer.write(known[:4] + frame[4:8] + known[8:])


async def ask(port: int, rate: float, stop: asyncio.Event) -> None:
    """A client that sends at this rate and reads what comes."""
    reader, writer = await asyncio.open_connection(HOST, port)
    start, loop = time.monotonic(), asyncio.get_running_loop()
    reading = loop.create_task(_drain(reader))
    for number, (request, _, version) in zip(count(), cycle(exchanges()), strict=False):
        if stop.is_set():
            break
        frame = encode_request(request, version, correlation_id=number, client_id="raft-client-1")
        writer.write(frame)
        await asyncio.sleep(max(start + number / rate - time.monotonic(), 0))
    reading.cancel()
    writer.close()


async def _drain(reader: asyncio.StreamReader) -> None:
    while await reader.read(65536):
        pass


async def proxy(upstream: int, *, fed: bool) -> None:
    """The proxy's process: says where it listens and feeds, and runs until it is killed."""
    listener = Listener(node_id=3000, upstream=Address(HOST, upstream))
    if not fed:
        async with Proxy([listener], wants=pass_everything) as passing:
            await _tell(passing.addresses[listener].port)
    stop = Intercept(None, lambda flow: feed.hold(flow))
    filters = Filters([stop])
    feed = Feed(
        Address(HOST, 0),
        controls=Controls(stop, filters, RuleSet(time.monotonic, lambda seed: Random(seed).random)),
    )
    async with feed, Proxy([listener], sinks=[feed], filters=filters) as feeding:
        await _tell(feeding.addresses[listener].port, feed.address.port)


async def _tell(*ports: int) -> None:
    sys.stdout.write(" ".join(map(str, ports)) + "\n")
    sys.stdout.flush()
    await asyncio.Event().wait()


def cpu(process: subprocess.Popen[str]) -> float:
    """CPU seconds that it has used."""
    columns = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(columns[11]) + int(columns[12])) / TICKS


@contextmanager
def started(*command: str, terminal: int | None = None) -> Iterator[subprocess.Popen[str]]:
    """A process that is killed at the end."""
    out = PIPE if terminal is None else terminal
    quiet = DEVNULL if terminal is None else terminal
    process = subprocess.Popen(command, stdin=terminal, stdout=out, stderr=quiet, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@contextmanager
def screen() -> Iterator[int]:
    """A terminal of 150 columns and 45 lines, whose output is read and thrown away."""
    mine, its = pty.openpty()
    ioctl(its, TIOCSWINSZ, pack("HHHH", 45, 150, 0, 0))
    Thread(target=_read, args=(mine,), daemon=True).start()
    yield its
    os.close(its)


def _read(terminal: int) -> None:
    try:
        while os.read(terminal, 65536):
            pass
    except OSError:
        pass


async def measure(viewer: str, upstream: int, rate: float, seconds: float) -> list[float]:
    """Percent of a core: of the proxy, and of its viewer where there is one."""
    with ExitStack() as stack:
        mode = "fed" if viewer else "passing"
        own = [sys.executable, __file__, "--upstream", str(upstream), "--mode", mode]
        process = stack.enter_context(started(*own))
        assert process.stdout
        ports = (await asyncio.to_thread(process.stdout.readline)).split()
        watched = [process]
        if viewer == "lines":
            watched.append(stack.enter_context(_watch(ports[1], "--plain", "--json")))
        elif viewer == "screen":
            terminal = stack.enter_context(screen())
            watched.append(stack.enter_context(_watch(ports[1], terminal=terminal)))
        stop = asyncio.Event()
        asking = asyncio.create_task(ask(int(ports[0]), rate, stop))
        await asyncio.sleep(WARM_UP)
        before, start = [cpu(one) for one in watched], time.monotonic()
        await asyncio.sleep(seconds)
        passed = time.monotonic() - start
        spent = [cpu(one) - earlier for one, earlier in zip(watched, before, strict=True)]
        stop.set()
        await asking
        return [100 * one / passed for one in spent]


@contextmanager
def _watch(
    port: str, *options: str, terminal: int | None = None
) -> Iterator[subprocess.Popen[str]]:
    kwire = str(Path(sys.executable).with_name("kwire"))
    with started(kwire, "watch", f"{HOST}:{port}", *options, terminal=terminal) as process:
        if process.stdout is not None:
            Thread(target=_read, args=(process.stdout.fileno(),), daemon=True).start()
        yield process


async def compare(rate: float, seconds: float) -> None:
    """Run one after the other and print the table."""
    node = await asyncio.start_server(answer, HOST, 0)
    port = node.sockets[0].getsockname()[1]
    passing = (await measure("", port, rate, seconds))[0]
    say = sys.stdout.write
    say(f"percent of a core at {rate:g} requests/s\n{'':16}{'proxy':>8}{'viewer':>8}{'added':>8}\n")
    say(f"{'passing':16}{passing:>8.1f}{'':>8}{'':>8}\n")
    for viewer in ("lines", "screen"):
        fed, watching = await measure(viewer, port, rate, seconds)
        added = fed + watching - passing
        say(f"{f'watched, {viewer}':16}{fed:>8.1f}{watching:>8.1f}{added:>8.1f}\n")
    await asyncio.sleep(0.5)  # the node sees its connections end
    node.close()


def main() -> None:
    """Compare, or be the proxy of a comparison."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rate", type=float, default=100.0)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--upstream", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--mode", choices=("passing", "fed"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.mode:
        asyncio.run(proxy(given.upstream, fed=given.mode == "fed"))
    else:
        asyncio.run(compare(given.rate, given.seconds))


if __name__ == "__main__":
    main()
