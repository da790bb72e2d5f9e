"""Frames a second of the Lua dissector beside Wireshark's own, on frames that both decode.

    python benchmarks/dissector.py [--frames 40000] [--rounds 7]

Both read the same file of Produce, Fetch, Metadata, OffsetCommit and Heartbeat, one after the
other. `tree` prints all fields (-V), `filter` searches one field, `list` prints a line a packet.
The first ratio is that of
whole processes; the second leaves out what tshark takes for one packet. Read the ratios; the
absolute figures are the machine's.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from kwire.batches import Record, build_batch
from kwire.capture import REQUEST, RESPONSE, CaptureRecord
from kwire.codec.declaration import Message
from kwire.dissector import dissector_source
from kwire.messages import a00_produce as produce
from kwire.messages import a01_fetch as fetch
from kwire.messages import a03_metadata as metadata
from kwire.messages import a08_offset_commit as commit
from kwire.messages import a12_heartbeat as heartbeat
from kwire.net.frames import encode_request, encode_response
from kwire.proxy.capture.pcap_export import write_pcapng

PORT = 9092
GOAL = 0.3

MODES = {
    "tree": ["-V"],
    "filter": ["-Y", "kafka.correlation_id == 17"],
    "list": [],
}
"""The arguments of tshark by what somebody does with it."""


def exchanges() -> list[tuple[Message, Message, int]]:
    """Return requests, responses and versions that Wireshark 4.0 decodes as well."""
    values = [Record(key=b"customer-17", value=b"x" * 200, timestamp=1_790_000_000_000 + i)
              for i in range(10)]  # fmt: skip
    batch = build_batch(values)
    produced = produce.ProduceRequest(
        acks=-1,
        timeout_ms=30_000,
        topic_data=[
            produce.TopicProduceData(
                name="orders",
                partition_data=[produce.PartitionProduceData(index=3, records=batch)],
            )
        ],
    )
    partitions = [
        fetch.FetchPartition(partition=i, fetch_offset=1000 * i, partition_max_bytes=1 << 20)
        for i in range(8)
    ]
    fetched = fetch.FetchRequest(
        replica_id=-1, topics=[fetch.FetchTopic(topic="orders", partitions=partitions)]
    )
    answers = [fetch.PartitionData(partition_index=i, records=batch) for i in range(3)]
    return [
        (produced, _produce_response(), 7),
        (fetched, _fetch_response(answers), 10),
        (fetched, _fetch_response([fetch.PartitionData(partition_index=1, records=b"")]), 10),
        (metadata.MetadataRequest(topics=None), _metadata_response(), 7),
        (_commit_request(), _commit_response(), 7),
        (heartbeat.HeartbeatRequest(group_id="g", member_id="consumer-1-0c"), _alive(), 3),
    ]


def _produce_response() -> Message:
    answer = produce.PartitionProduceResponse(index=3, base_offset=177)
    topic = produce.TopicProduceResponse(name="orders", partition_responses=[answer])
    return produce.ProduceResponse(responses=[topic])


def _fetch_response(partitions: list[fetch.PartitionData]) -> Message:
    topic = fetch.FetchableTopicResponse(topic="orders", partitions=partitions)
    return fetch.FetchResponse(responses=[topic])


def _metadata_response() -> Message:
    partitions = [
        metadata.MetadataResponsePartition(
            partition_index=i, leader_id=i % 3, replica_nodes=(0, 1, 2), isr_nodes=(0, 1, 2)
        )
        for i in range(12)
    ]
    brokers = [
        metadata.MetadataResponseBroker(node_id=i, host=f"kafka-{i}", port=9092) for i in range(3)
    ]
    topic = metadata.MetadataResponseTopic(name="orders", partitions=partitions)
    return metadata.MetadataResponse(brokers=brokers, topics=[topic], cluster_id="c")


def _commit_request() -> Message:
    partitions = [
        commit.OffsetCommitRequestPartition(partition_index=i, committed_offset=100)
        for i in range(6)
    ]
    topic = commit.OffsetCommitRequestTopic(name="orders", partitions=partitions)
    return commit.OffsetCommitRequest(group_id="g", member_id="consumer-1-0c", topics=[topic])


def _commit_response() -> Message:
    partitions = [commit.OffsetCommitResponsePartition(partition_index=i) for i in range(6)]
    topic = commit.OffsetCommitResponseTopic(name="orders", partitions=partitions)
    return commit.OffsetCommitResponse(topics=[topic])


def _alive() -> Message:
    return heartbeat.HeartbeatResponse()


def records(count: int) -> Iterator[CaptureRecord]:
    """Yield the frames of some connections, requests and responses in turn."""
    kinds = exchanges()
    for number in range(count // 2):
        request, response, version = kinds[number % len(kinds)]
        asked = encode_request(request, version, correlation_id=number, client_id="bench")  # type: ignore[arg-type]
        answered = encode_response(response, version, correlation_id=number)  # type: ignore[arg-type]
        for kind, frame in ((REQUEST, asked[4:]), (RESPONSE, answered[4:])):
            yield CaptureRecord(
                capture="c",
                connection=number % 10,
                client=f"127.0.0.1:{50000 + number % 10}",
                upstream=f"127.0.0.1:{PORT}",
                kind=kind,
                event=number,
                at_us=1_790_000_000_000_000 + number * 100 + (kind == RESPONSE) * 40,
                monotonic_ns=0,
                size=len(frame),
                frame=frame,
            )


def seconds(command: list[str]) -> float:
    """Return the processor's seconds that a command takes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=os.environ
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def loading(packets: Path, script: Path) -> float:
    """Return the seconds that tshark takes longer for one packet, the file loaded."""
    one = ["tshark", "-r", str(packets), "-c", "1"]
    pairs = [seconds([*one, "-X", f"lua_script:{script}"]) - seconds(one) for _ in range(5)]
    return median(pairs)


def measure(packets: Path, script: Path, mode: list[str], rounds: int) -> list[float]:
    """Return seconds: Wireshark's own and ours, each whole and for one packet; they take turns."""
    own = ["tshark", "-r", str(packets), *mode]
    lua = [*own, "-X", f"lua_script:{script}"]
    commands = (own, lua, [*own, "-c", "1"], [*lua, "-c", "1"])
    taken: list[list[float]] = [[seconds(command) for command in commands] for _ in range(rounds)]
    return [median(column) for column in zip(*taken, strict=True)]


def main() -> None:
    """Print a line for each mode; exit with 1 below the goal."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--frames", type=int, default=40_000)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    with TemporaryDirectory() as folder:
        packets, script = Path(folder, "frames.pcapng"), Path(folder, "kafka.lua")
        with packets.open("wb") as file:
            write_pcapng(records(options.frames), file)
        script.write_text(dissector_source(), "utf-8")
        start = loading(packets, script)
        print(f"{options.frames} frames; loading the dissector takes {start:.2f} s")  # noqa: T201
        lowest = 1.0
        for name, mode in MODES.items():
            own, lua, own_start, lua_start = measure(packets, script, mode, options.rounds)
            lowest = min(lowest, own / lua)
            print(  # noqa: T201
                f"{name:6}  {options.frames / lua:9,.0f} frames/s; of Wireshark's own"
                f" {own / lua:.2f}, without the start {(own - own_start) / (lua - lua_start):.2f}"
            )
    sys.exit(lowest < GOAL)


if __name__ == "__main__":
    main()
