"""Fetch: sessions (KIP-227), errors of partitions, and logs as compaction leaves them."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Any

from kwire.batches.building import build_batch
from kwire.batches.compression import Compression
from kwire.batches.current import RecordBatch
from kwire.batches.record import Record
from kwire.conform.clients.case import RECORDS, ClientCase, ClientSection, ClientTask
from kwire.conform.clients.cases.groups import committed_before
from kwire.conform.clients.cluster import Cluster
from kwire.conform.clients.judges import demand_calm, demand_records
from kwire.conform.clients.play import Play
from kwire.conform.clients.script import (
    NodeAction,
    ScriptRule,
    changed,
    ends,
    gives,
    meanwhile,
    once,
    until_sent,
    withheld,
)
from kwire.conform.expectation import expect
from kwire.conform.vocabulary import Skipped, guide, kafka, kip, schema
from kwire.error_codes import ErrorCode as Code
from kwire.messages.a01_fetch import FetchRequest, FetchResponse
from kwire.messages.a09_offset_fetch import OffsetFetchRequest

SECTION = ClientSection("client/fetch", "Fetch sessions, and what logs are made of")
_CONSUME = ClientTask.CONSUME
_VALUES = [f"r{number}" for number in range(RECORDS + 1)]


def _in_session(body: FetchRequest) -> bool:
    return body.session_id != 0 and body.session_epoch > 0


def _demand_all(play: Play, expected: Sequence[str] = _VALUES[:RECORDS]) -> None:
    demand_records(play, expected)
    demand_calm(play, play.sent(FetchRequest))
    play.demand_end()


@SECTION.case(
    1,
    kip(227, "Incremental Fetch Requests"),
    _CONSUME,
    rules=lambda: until_sent(
        ScriptRule(api=FetchRequest, action=withheld(lambda: False), when=_in_session),
        FetchRequest,
        when=lambda body: body.session_epoch == 3,
        unless=lambda body: body.session_epoch < 0,
    ),
)
def _(play: Play) -> None:
    "The epochs of a fetch session count from 1."
    last: dict[int, int] = {}
    for request in play.demand(FetchRequest):
        if _in_session(request.body):
            session, epoch = request.body.session_id, request.body.session_epoch
            following = last.get(session, 0) + 1
            expect(epoch == following, f"epoch {following} of the session", epoch)
            last[session] = epoch
    _demand_all(play)


def _declare_session(number: int, fault: str, action: NodeAction) -> None:
    def judge(play: Play) -> None:
        following = play.after(play.scripted(FetchRequest)[0], FetchRequest)
        if following:
            body = following[0].body
            is_full = body.session_epoch <= 0 and bool(body.topics)
            came = f"epoch {body.session_epoch} with {len(body.topics)} topics"
            expect(is_full, "a Fetch of all partitions with epoch 0 or -1", came)
        _demand_all(play)

    SECTION[number] = ClientCase(
        sentence=f"After {fault} a client fetches all partitions in a new session, or in none.",
        source=kip(227, "Error Handling"),
        task=_CONSUME,
        judge=judge,
        rules=lambda: until_sent(
            ScriptRule(api=FetchRequest, action=action, when=_in_session),
            FetchRequest,
            unless=lambda body: body.session_epoch < 0,
        ),
    )


_declare_session(2, Code.FETCH_SESSION_ID_NOT_FOUND.name, meanwhile(lambda c: c.sessions.clear()))
_declare_session(
    3, Code.INVALID_FETCH_SESSION_EPOCH.name, gives(Code.INVALID_FETCH_SESSION_EPOCH, at="top")
)


@SECTION.case(4, guide("Network"), _CONSUME, rules=once(FetchRequest, ends()))
def _(play: Play) -> None:
    "After a closed connection a client fetches again, and reads each record once."
    _demand_all(play)


def _batch(*values: str, compression: Compression = Compression.NONE, **more: Any) -> bytes:
    records = [Record(value.encode(), timestamp=0) for value in values]
    return build_batch(records, compression=compression, **more)


def _holding(*batches: bytes) -> Callable[[Cluster], None]:
    """Return what puts these batches in place of the records that there are."""

    def arrange(cluster: Cluster) -> None:
        log = next(cluster.logs())
        log.batches, log.end = [], 0
        for batch in batches:
            log.append(RecordBatch.read(batch))

    return arrange


def _cut_off(cluster: Cluster) -> None:
    """Delete the first record."""
    log = next(cluster.logs())
    log.start = 1
    log.batches[:1] = []


@SECTION.case(
    10,
    guide("Error Codes"),
    _CONSUME,
    rules=once(FetchRequest, meanwhile(_cut_off)),
    arrange=_holding(*map(_batch, _VALUES)),
    may_fail=True,
)
def _(play: Play) -> None:
    "After OFFSET_OUT_OF_RANGE a client reads from where its policy says, or gives up."
    demand_records(play, _VALUES[1:])
    demand_calm(play, play.sent(FetchRequest))


_CONTROL = build_batch(
    [Record(struct.pack(">hi", 0, 0), key=struct.pack(">hh", 0, 1), timestamp=0)],
    producer_id=7,
    producer_epoch=0,
    is_transactional=True,
    is_control=True,
)


@SECTION.case(
    11,
    kip(98, "Control messages"),
    _CONSUME,
    arrange=_holding(_batch("r0"), _CONTROL, _batch("r1", "r2")),
)
def _(play: Play) -> None:
    "A client shows nobody the control records."
    _demand_all(play)


@SECTION.case(
    12,
    guide("Record Batch"),
    _CONSUME,
    arrange=_holding(
        _batch("r0"), _batch(last_offset=4), _batch("r1", last_offset=2), _batch("r2")
    ),
)
def _(play: Play) -> None:
    "A client passes over a batch without records, and over offsets that compaction took."
    _demand_all(play)


def _cut_short(answer: FetchResponse) -> None:
    for topic in answer.responses:
        for part in topic.partitions:
            part.records = (part.records or b"")[:-10]


@SECTION.case(
    13, schema("FetchResponse", "Records"), _CONSUME, rules=once(FetchRequest, changed(_cut_short))
)
def _(play: Play) -> None:
    "A client handles a part of a batch at the end of an answer: it fetches it again."
    _demand_all(play)


@SECTION.case(
    14,
    kafka("CompletedFetch.nextFetchedRecord"),
    ClientTask.GROUP,
    rules=once(OffsetFetchRequest, changed(committed_before)),
    arrange=_holding(_batch("r0", "r1"), _batch("r2"), _batch("r3")),
)
def _(play: Play) -> None:
    "A client drops the records of a batch that are before the offset that it fetches."
    _demand_all(play, _VALUES[1:])


def _declare_codec(number: int, codec: Compression, arrange: Callable[[Cluster], None]) -> None:
    def judge(play: Play) -> None:
        demand_records(play, _VALUES[:RECORDS])
        if not play.ended_well:
            raise Skipped(f"the client does not read {codec.name.lower()}")

    SECTION[number] = ClientCase(
        sentence=f"A client reads batches that {codec.name.lower()} compresses.",
        source=guide("Record Batch"),
        task=_CONSUME,
        judge=judge,
        arrange=arrange,
        may_fail=True,
    )


for codec in Compression:
    if codec is not Compression.NONE:
        pair = _batch("r0", "r1", compression=codec), _batch("r2", compression=codec)
        _declare_codec(19 + codec, codec, _holding(*pair))
