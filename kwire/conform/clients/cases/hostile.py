"""Hostile answers: a client neither hangs nor swells, and believes nothing that is not so."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import cycle
from typing import Any

from kwire.batches.compression import Compression
from kwire.codec.compiler.runtime import uvarint
from kwire.codec.declaration import Request
from kwire.conform.clients.bombs import LIES, bomb
from kwire.conform.clients.case import ClientCase, ClientSection, ClientTask
from kwire.conform.clients.judges import DIFFERS, demand_little_memory, demand_records
from kwire.conform.clients.play import Play
from kwire.conform.clients.script import (
    NodeAction,
    NodeReply,
    NothingToChange,
    ReplyEnd,
    ScriptRule,
    Turn,
    dripped,
    mangled,
)
from kwire.conform.vocabulary import ConformanceVerdict, guide
from kwire.messages.a00_produce import ProduceRequest
from kwire.messages.a01_fetch import FetchRequest
from kwire.messages.a03_metadata import MetadataRequest
from kwire.messages.a18_api_versions import ApiVersionsRequest
from kwire.messages.registry import api_name

SECTION = ClientSection("client/hostile", "Hostile answers do no harm")
_LARGEST = (1 << 31) - 1


def _declare(
    number: int,
    api: type[Request],
    fault: str,
    action: Callable[[], NodeAction],
    times: int = 1,
    verdict: ConformanceVerdict = ConformanceVerdict.FAIL,
) -> None:
    task = ClientTask.CONSUME if api is FetchRequest else ClientTask.PRODUCE

    def judge(play: Play) -> None:
        if api is FetchRequest:
            demand_records(play, ["r0", "r1", "r2"], verdict)
        demand_little_memory(play, verdict)

    SECTION[number] = ClientCase(
        sentence=f"{fault} for {api_name(api.key or 0)}: a client ends in time, takes little "
        "memory, and believes nothing that is not so.",
        source=guide("Protocol Primitive Types"),
        task=task,
        judge=judge,
        rules=lambda: [ScriptRule(api=api, action=action(), times=times)],
        may_fail=True,
    )


_CUTS = (0, 3, 4, 6, 11, 40, -1)


def _cut(end: ReplyEnd, *places: int) -> Callable[[], NodeAction]:
    """Return what makes an action that cuts each answer at the next of these bytes."""

    def make() -> NodeAction:
        following: Iterator[int] = cycle(places)
        return mangled(lambda data: data[: next(following)], end=end)

    return make


for number, api in (
    (1, ApiVersionsRequest),
    (2, MetadataRequest),
    (3, ProduceRequest),
    (4, FetchRequest),
):
    closed = _cut(ReplyEnd.CLOSE, *_CUTS)
    _declare(number, api, "Answers that are cut at many places", closed, times=len(_CUTS))
_declare(5, MetadataRequest, "Two bytes of an answer", _cut(ReplyEnd.NONE, 2))
_declare(6, MetadataRequest, "An answer without its last byte", _cut(ReplyEnd.NONE, -1))


def _sized(size: int) -> Callable[[], NodeAction]:
    head = size.to_bytes(4, "big", signed=True)
    return lambda: mangled(lambda data: head + data[4:])


for number, api, size in (
    (10, MetadataRequest, -1),
    (11, MetadataRequest, 0),
    (12, MetadataRequest, 3),
    (13, MetadataRequest, _LARGEST),
    (14, FetchRequest, _LARGEST),
):
    _declare(number, api, f"The size {size}", _sized(size))


def _length(path: str, length: int) -> Callable[[], NodeAction]:
    """Return what makes an action that gives an array or a string another length than it has.

    The length is where the bytes begin to differ if it has one element or letter more.
    """

    def action(turn: Turn) -> NodeReply:
        plain, longer = turn.unchanged(), turn.unchanged()
        part: Any = longer
        *parents, last = path.split(".")
        for name in parents:
            part = next(iter(getattr(part, name)), None)
        if part is None:
            raise NothingToChange
        value = getattr(part, last)
        setattr(part, last, value + value[:1])
        old, new = turn.framed(plain), turn.framed(longer)
        at = next(i for i in range(4, len(old)) if old[i] != new[i])
        size = 2 if isinstance(value, str) else 4
        if turn.request.version in type(plain).flexible:
            data = old[:at] + uvarint(length + 1 & 0xFFFF_FFFF) + old[at + 1 :]
        else:
            most = (1 << 8 * size - 1) - 1
            number = min(length, most).to_bytes(size, "big", signed=True)
            data = old[: at + 1 - size] + number + old[at + 1 :]
        return NodeReply(data=(len(data) - 4).to_bytes(4, "big") + data[4:])

    return lambda: action


for number, api, path, length in (
    (20, ApiVersionsRequest, "api_keys", 10**9),
    (21, MetadataRequest, "brokers", 10**9),
    (22, MetadataRequest, "topics.partitions", 10**9),
    (23, MetadataRequest, "brokers", -2),
    (24, MetadataRequest, "brokers.host", _LARGEST - 1),
    (25, FetchRequest, "responses", 10**9),
    (26, ProduceRequest, "responses", 10**9),
):
    _declare(number, api, f"The length {length} of {path}", _length(path, length))

_declare(30, MetadataRequest, "An answer byte by byte", lambda: dripped(0.05))


def _first_batch(change: Callable[[bytes], bytes]) -> Callable[[], NodeAction]:
    """Return what makes an action that changes the first batch, and gives no other."""

    def action(turn: Turn) -> NodeReply:
        answer: Any = turn.unchanged()
        for topic in answer.responses:
            for part in topic.partitions:
                size = int.from_bytes((part.records or b"")[8:12], "big") + 12
                part.records = change((part.records or b"")[:size])
        return NodeReply(data=turn.framed(answer))

    return lambda: action


for number, (fault, change) in enumerate(LIES.items(), 40):
    # To look at CRCs is an option of some clients.
    verdict = DIFFERS if number == 40 else ConformanceVerdict.FAIL
    name = fault[0].upper() + fault[1:]
    _declare(number, FetchRequest, name, _first_batch(change), verdict=verdict)
for codec in Compression:
    if codec is not Compression.NONE:

        def explosive(_: bytes, codec: Compression = codec) -> bytes:
            return bomb(codec)

        name = f"A gibibyte of zeros that {codec.name.lower()} compresses"
        _declare(60 + codec, FetchRequest, name, _first_batch(explosive), verdict=DIFFERS)
