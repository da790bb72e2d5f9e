"""Attacks on the encoder of flows: by what passes, and by flows that nothing in kwire makes.

Each asserts that the records are those of the reference, or left to it. Run plainly by
test_flow_batches.py, under sanitizers by tests/support/sanitize.py.
"""

from __future__ import annotations

import gc
import threading
from collections import deque
from collections.abc import Callable, Iterable
from functools import partial
from math import inf, nan
from random import Random
from typing import Any

import msgspec
import pytest
from crc32c import crc32c

from kwire.capture import RecordEncoder
from kwire.capture.encoding import EncodedRecords, OpenRecord
from kwire.capture.file import Encoded
from kwire.proxy import ClientConnection, Flow, Outcome
from kwire.proxy.capture.flow_batches import LONG, FlowBatchEncoder, Stamped
from kwire.proxy.capture.records import event_records
from kwire.proxy.flows.flow import Effect
from tests.support.capture.native import decoder_attack
from tests.support.native_extensions import needs_extension

with needs_extension():
    from kwire.capture import native as native

CAPTURE = "AAAAAAAAQACAAAAAAAAwAA"
CLIENT_IDS = (None, "", "raft-client-1", "grün", "x" * 300, "\\xff")
KEYS = (0, 1, 3, 17, 36, 44, 52, 58, 63, 80, 127, 128, 9999, -1)


def attacks(seed: int, effort: int) -> dict[str, Callable[[], object]]:
    """Return all attacks, by what they do; effort 1 takes some seconds with sanitizers."""
    return {
        "flows encoded, left": partial(drawn, seed, 5_000 * effort),
        "spoilt flows encoded, left": partial(spoilt, seed, 5_000 * effort),
        "flows changed by another thread": partial(changed, seed, 2_000 * effort),
        "encoders collected": partial(collected, 50 * effort),
        "bytes copied and summed": partial(summed, seed, 2_000 * effort),
        "mutants of captured records read, refused": partial(
            decoder_attack.mutants, seed, 20_000 * effort
        ),
    }


def drawn_flow(random: Random, connections: list[ClientConnection]) -> Flow:
    """Return a flow as the data path may make it: most are usual."""
    size = random.choice((0, 1, 60, 128, 400, 20_000))
    at, asked = random.uniform(0, 4e9), random.uniform(0, 1e8)
    flow = Flow(
        random.choice(connections),
        random.choice(KEYS),
        random.randrange(20),
        random.choice((0, 1, -1, 2**31 - 1, -(2**31), random.randrange(10**6))),
        random.choice(CLIENT_IDS),
        random.choice((at, float(int(at)), int(at) + 0.5e-6)),
        asked,
        size,
        request_copy=random.choice((None, random.randbytes(size), random.randbytes(size // 2))),
        outcome=random.choice(list(Outcome)),
    )
    if random.random() < 0.8:
        flow.answered = asked + random.choice((0.0, 1e-9, 0.001, 30.0))
        flow.response_size = size
        flow.response_copy = random.choice((None, random.randbytes(size)))
    return flow if random.random() < 0.8 else _unusual(random, flow)


def _unusual(random: Random, flow: Flow) -> Flow:
    match random.randrange(4):
        case 0:
            flow.problems.append("a problem")
        case 1:
            flow.add_effect(Effect.DELAYED, "delayed")
        case 2:
            flow.response_size = None
        case 3:
            flow.response_copy = random.choice((bytes(LONG), bytes(LONG + 1), None))
            flow.request_copy = random.choice((bytes(LONG), bytes(LONG + 1), None))
    return flow


def connections(random: Random) -> list[ClientConnection]:
    """Return some connections, of nodes and of others."""
    return [
        ClientConnection(
            number=number,
            node_id=random.choice((None, 1, 3000)),
            client=f"127.0.0.1:{50_000 + number}",
            upstream="[::1]:9093",
            at=1.8e9,
            peer=random.choice((None, 2)),
        )
        for number in range(40)
    ]


def by_reference(
    events: Iterable[Flow | Stamped],
    number: int = 0,
    limit: int | None = None,
    *,
    show_secrets: bool = False,
) -> bytes:
    """Return the records as they are made one by one."""
    encoder, parts = RecordEncoder(), []
    for position, event in enumerate(events, number):
        flow = event.event if isinstance(event, Stamped) else event
        for record in event_records(flow, position, CAPTURE, show_secrets=show_secrets):
            frame = record.frame if limit is None else (record.frame or b"")[:limit]
            whole = record if record.frame is None else msgspec.structs.replace(record, frame=frame)
            parts.append(encoder.encode(whole))
    return b"".join(parts)


def whole(records: Encoded) -> bytes:
    """Return the bytes of records as a file has them."""
    match records:
        case EncodedRecords():
            return records.data
        case OpenRecord():
            data = b"".join(records)
            return data + crc32c(data).to_bytes(4, "big")
        case _:
            return records


def count_records(records: Encoded) -> int:
    """Return how many records these are."""
    return records.records if isinstance(records, EncodedRecords) else 1


def compare(flows: list[Any], limit: int | None = None, *, show_secrets: bool = False) -> int:
    """Assert that batches, with what they leave out, are what the reference makes; count flows."""
    encoder = FlowBatchEncoder(CAPTURE, show_secrets=show_secrets, frame_limit=limit)
    queue, position, encoded = deque(flows), 0, 0
    while queue:
        batch, event = encoder.encode(queue, position)
        taken = flows[position : position + batch.flows]
        expected = by_reference(taken, position, limit, show_secrets=show_secrets)
        assert b"".join(map(whole, batch.records)) == expected
        assert sum(map(count_records, batch.records)) == sum(
            1 + (flow.answered is not None) for flow in taken
        )
        assert batch.weight == sum(flow.weight for flow in taken)
        position += batch.flows + (event is not None)
        encoded += batch.flows
        assert event is None or event is flows[position - 1]
    assert position == len(flows)
    return encoded


def drawn(seed: int, count: int) -> tuple[int, int]:
    """Encode flows as they pass; return how many were encoded, and how many left."""
    random = Random(seed)
    pool = connections(random)
    flows = [drawn_flow(random, pool) for _ in range(count)]
    encoded = 0
    for limit in (None, 0, 100):
        encoded = compare(flows, limit)
    return encoded, count - encoded


VALUES = (None, "", "text", b"", b"x", bytearray(b"x"), 0, -1, 2**31, 2**63, -(2**70), True, 1.5)
VALUES += (nan, inf, -inf, 1e300, (), [], ("x",), ["x"], {}, object())  # type: ignore[assignment]


def spoilt(seed: int, count: int) -> tuple[int, int]:
    """Give fields values of other types, or none; return how many were encoded, how many left."""
    random, encoded = Random(seed), 0
    fields = list(Flow.__dataclass_fields__)
    for _ in range(count):
        flow = drawn_flow(random, connections(random)[:1])
        owner = random.choice((flow, flow, flow.connection))
        name = random.choice(fields if owner is flow else ["peer", "node_id", "client", "number"])
        if random.random() < 0.1 and hasattr(owner, name):
            delattr(owner, name)
        else:
            setattr(owner, name, random.choice(VALUES))
        encoder = FlowBatchEncoder(CAPTURE, show_secrets=True)
        batch, event = encoder.encode(deque([flow]), 2**40)
        if event is None:
            expected = by_reference([flow], 2**40, show_secrets=True)
            assert b"".join(map(whole, batch.records)) == expected
            encoded += 1
    return encoded, count - encoded


def changed(seed: int, count: int) -> int:
    """Change flows and fill the queue while it is emptied; return how many were encoded."""
    random = Random(seed)
    pool = connections(random)
    flows = [drawn_flow(random, pool) for _ in range(count)]
    queue: deque[Flow | Stamped] = deque(flows)
    done = threading.Event()

    def change() -> None:
        while not done.is_set():
            for flow in flows:
                flow.response_copy, flow.client_id = bytes(random.randrange(200)), str(flow.at)
                flow.connection.peer = random.randrange(9)
            queue.extend(flows[:10])

    thread = threading.Thread(target=change)
    thread.start()
    encoder, encoded = FlowBatchEncoder(CAPTURE, show_secrets=True), 0
    try:
        while encoded < count:
            encoded += encoder.encode(queue, encoded)[0].flows
    finally:
        done.set()
        thread.join()
    return encoded


def collected(count: int) -> int:
    """Make encoders that refer to themselves, and see that each goes; return how many."""
    before = _encoders()
    for _ in range(count):
        _make_cycle()
    assert _encoders() == before
    return count


def _encoders() -> int:
    gc.collect()
    return sum(type(found) is native.FlowEncoder for found in gc.get_objects())


def _make_cycle() -> None:
    made: list[object] = []

    def is_plain(flow: Flow) -> bool:
        return not made

    limits = (-1, LONG, 1024, 512)
    made.append(native.FlowEncoder(Flow, lambda flow: (b"", b""), is_plain, b"", (), b"", limits))


def summed(seed: int, count: int) -> int:
    """Copy bytes of all sizes and places, and compare their sums with another's."""
    random = Random(seed)
    data = random.randbytes(40_000)
    room = bytearray(len(data))
    for _ in range(count):
        start = random.randrange(len(data))
        part = memoryview(data)[start : start + random.choice((0, 1, 9, 6144, 30_000))]
        place, before = random.randrange(len(room) - len(part) + 1), random.randrange(1 << 32)
        there = memoryview(room)[place : place + len(part)]
        assert native.copy_summed(there, part, before) == crc32c(part, before)
        assert there == part
        if part:
            with pytest.raises(ValueError, match="too small"):
                native.copy_summed(there[1:], part, before)
    return count
