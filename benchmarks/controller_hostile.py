"""Time that hostile frames take of a controller's event loop.

    python benchmarks/controller_hostile.py [--write]

Every frame goes to a running controller from a thread, three times. The table has the longest turn
of the loop, in CPU time of its thread, while the frame was received, handled and answered: the
median of the three, since a turn may also be one of the controller's own.
"""

from __future__ import annotations

import argparse
import asyncio
import socket
import struct
import time
from asyncio.events import Handle
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from contextlib import suppress
from itertools import repeat
from statistics import median

from controller_sides import SESSION
from kwire.codec.declaration import Request
from kwire.controller.server.config.sasl import CALLBACK_HANDLER
from kwire.messages.a17_sasl_handshake import SaslHandshakeRequest
from kwire.messages.a19_create_topics import CreatableTopic, CreateTopicsRequest
from kwire.messages.a20_delete_topics import DeleteTopicsRequest, DeleteTopicState
from kwire.messages.a30_create_acls import AclCreation, CreateAclsRequest
from kwire.messages.a36_sasl_authenticate import SaslAuthenticateRequest
from kwire.messages.a44_incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kwire.messages.a55_describe_quorum import DescribeQuorumRequest, PartitionData, TopicData
from kwire.messages.config_resource import ResourceType
from kwire.net.frames import encode_request
from kwire.testing.quorum import Quorum
from performance_page import write_section
from simulated_broker import SimulatedBroker
from tests.support.controller.sasl_listeners import FIRST_CREDENTIALS, MODULES, sasl_listener

MIB = 1 << 20
LONGEST_TEXT = 32_000
APPEND = 2
PATIENCE = 120.0
TIMES = 3
LOGIN = {
    **sasl_listener("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"),
    f"listener.name.controller.oauthbearer.{CALLBACK_HANDLER}": (
        f"{MODULES}.oauthbearer.internals.unsecured.OAuthBearerUnsecuredValidatorCallbackHandler"
    ),
}
RUN = "_run"
"""The method of asyncio's handles that runs one callback."""


def main() -> None:
    """Measure, print, and write if asked to."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--write", action="store_true", help="put the table into the docs")
    options = parser.parse_args()
    found = asyncio.run(measure())
    rows = [f"| {name} | {size / MIB:.2f} | {turn * 1e3:.1f} |" for name, size, turn in found]
    head = ["| frame | MiB | longest turn, ms of CPU |", "| --- | ---: | ---: |"]
    text = "\n".join([*head, *rows])
    print(text)  # noqa: T201  # a script's output
    if options.write:
        write_section("hostile", text)


class LongestTurn:
    """Measures every turn of the event loop from `begin` on."""

    def __init__(self) -> None:
        self.seconds = 0.0
        original = getattr(Handle, RUN)

        def run(handle: Handle) -> None:
            began, number = time.thread_time(), self._number
            original(handle)
            if number == self._number:  # not the turn in which the measurement began
                self.seconds = max(self.seconds, time.thread_time() - began)

        self._number = 0
        setattr(Handle, RUN, run)

    def begin(self) -> None:
        """Forget what was measured."""
        self._number += 1
        self.seconds = 0.0


async def measure() -> list[tuple[str, int, float]]:
    """Name, size and longest turn of every frame."""
    turns = LongestTurn()
    found = []
    async with Quorum(1, properties=SESSION) as quorum:
        await quorum.wait_for_leader()
        (address,) = quorum.addresses.values()
        broker = await SimulatedBroker.open(1, *address)
        await broker.connection.send(
            CreateTopicsRequest(topics=[CreatableTopic(name="t", num_partitions=1)])
        )
        for name, frame in [*frames()]:
            found.append((name, len(frame), await longest(turns, address, frame)))
        await broker.close()
    async with Quorum(1, properties=LOGIN, scram=FIRST_CREDENTIALS) as quorum:
        (address,) = quorum.addresses.values()
        for mechanism, kind, token in tokens():
            handshake = framed(SaslHandshakeRequest(mechanism=mechanism))
            frame = framed(SaslAuthenticateRequest(auth_bytes=token))
            seconds = await longest(turns, address, handshake, frame)
            found.append((f"a login, {mechanism}: {kind}", len(frame), seconds))
    return found


async def longest(turns: LongestTurn, address: tuple[str, int], *frames: bytes) -> float:
    """Send frames TIMES times; return the median of the longest turns, in seconds."""
    found = []
    for _ in range(TIMES):
        turns.begin()
        await asyncio.to_thread(send, address, *frames)
        found.append(turns.seconds)
    return median(found)


def send(address: tuple[str, int], *frames: bytes) -> None:
    """Send frames; after each, wait for bytes of the answer, or for the end of the connection."""
    with socket.create_connection(address, timeout=PATIENCE) as connection, suppress(OSError):
        for frame in frames:
            connection.sendall(frame)
            connection.recv(100)


def tokens() -> Iterator[tuple[str, str, bytes]]:
    """Mechanism, name and bytes of tokens as long as a listener takes, from nobody it knows."""
    yield "PLAIN", "500,000 parts", b"\0" * 500_000
    yield "PLAIN", "a password of 500,000 letters", b"\0b\0" + b"c" * 500_000
    yield "SCRAM-SHA-256", "500,000 commas", b"," * 500_000
    yield "SCRAM-SHA-512", "2,000 attributes", b"n,,n=a,r=b" + b",a=b" * 2000
    yield "OAUTHBEARER", "100,000 pairs", b"n,,\1" + b"a=b\1" * 100_000
    for kind, header in (("48 KiB of brackets", b"[" * 49_000), ("no JSON", b"\0" * 49_000)):
        token = urlsafe_b64encode(header) + b".."
        yield "OAUTHBEARER", kind, b"n,,\1auth=Bearer " + token[: 64 * 1024] + b"\1\1"


def frames() -> Iterator[tuple[str, bytes]]:
    """Frames that cost a receiver much, by name."""
    topic = CreatableTopic(name="t", num_partitions=1, replication_factor=1)
    asked = TopicData(topic_name="t", partitions=[PartitionData()])
    yield (
        "DescribeQuorum of 1,000,000 topics",
        framed(DescribeQuorumRequest(topics=[*repeat(asked, 1_000_000)])),
    )
    for count in (2000, 1_000_000):
        request = CreateTopicsRequest(topics=[*repeat(topic, count)])
        yield f"CreateTopics, one name {count:,} times", framed(request)
    yield (
        "CreateTopics, 49 names of 32,000 letters",
        framed(
            CreateTopicsRequest(
                topics=[
                    topic.replace(name=f"{number}" + "n" * LONGEST_TEXT) for number in range(49)
                ]
            )
        ),
    )
    yield (
        "DeleteTopics of 1,000,000 names",
        framed(DeleteTopicsRequest(topics=[*repeat(DeleteTopicState(name="t"), 1_000_000)])),
    )
    acl = AclCreation(
        resource_type=2,
        resource_name="t",
        principal="User:a",
        host="*",
        operation=3,
        permission_type=3,
    )
    yield "CreateAcls of 500,000", framed(CreateAclsRequest(creations=[*repeat(acl, 500_000)]))
    words = "x," * (LONGEST_TEXT // 2)
    yield (
        "16,000 words appended 45 times",
        framed(altered(ResourceType.TOPIC, "t", "cleanup.policy", words, times=45)),
    )
    for pattern in ("(a+)+$", "(" * LONGEST_TEXT, "[a-z" * 8000, "a{1000}" * 2000, "(a|" * 9000):
        yield (
            f"a pattern of client metrics, {pattern[:8]}…",
            framed(altered(ResourceType.CLIENT_METRICS, "m", "match", f"client_id={pattern}")),
        )
    head = struct.pack(">hhih", 18, 4, 1, -1)
    yield "20,000,000 tags in a header", sized(head + varint(20_000_000) + b"\5\0" * 20_000_000)
    yield (
        "100 MiB that are no CreateTopics",
        sized(struct.pack(">hhih", 19, 7, 1, -1) + b"\0" + b"\xff" * (100 * MIB - 11)),
    )


def altered(type: int, resource: str, key: str, value: str, times: int = 1) -> Request:
    """Return a request that appends to a key so often."""
    config = AlterableConfig(name=key, config_operation=APPEND if times > 1 else 0, value=value)
    return IncrementalAlterConfigsRequest(
        resources=[
            AlterConfigsResource(
                resource_type=type, resource_name=resource, configs=[*repeat(config, times)]
            )
        ]
    )


def framed(request: Request) -> bytes:
    """Return the frame of a request in its latest version."""
    return encode_request(request, type(request).versions.last, correlation_id=1)


def sized(data: bytes) -> bytes:
    """Return data after its size."""
    return struct.pack(">i", len(data)) + data


def varint(number: int) -> bytes:
    """Return an unsigned varint."""
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


if __name__ == "__main__":
    main()
