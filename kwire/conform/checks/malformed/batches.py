"""Record batches whose header or records lie (Java: RecordBatch, LogValidator)."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator

import crc32c

from kwire.batches import Compression
from kwire.conform.bad_bytes import others_served
from kwire.conform.check import Check, CheckSection, broker_scenario, gets
from kwire.conform.checks.records.log import CheckedLog, batch, new_log, produce_request
from kwire.conform.expectation import expect
from kwire.conform.reaction import ConnectionState, error_text
from kwire.conform.server import Server
from kwire.conform.vocabulary import (
    ConformanceVerdict,
    Deviation,
    Need,
    SentenceSource,
    ServerRole,
    documentation,
    kafka,
    schema,
)
from kwire.error_codes import ErrorCode

SECTION = CheckSection("malformed/batch", "Record batches with a wrong header or wrong records")

_LENGTH, _MAGIC, _CRC, _ATTRIBUTES, _LAST_DELTA, _PRODUCER, _COUNT, _RECORDS = (
    8,
    16,
    17,
    21,
    23,
    43,
    57,
    61,
)
"""Positions of fields in a batch. length counts from 12 on; the CRC covers what is behind it."""
_BOMB = bytes(16 << 20)
_CODECS = (Compression.GZIP, Compression.SNAPPY, Compression.LZ4, Compression.ZSTD)
_BATCH = kafka("DefaultRecordBatch.ensureValid")
_READER = kafka("ByteBufferLogInputStream.nextBatchSize")
_WHOLE = kafka("ProduceRequest.validateRecords")
_VALIDATOR = kafka("LogValidator.validateBatch")

Batches = Callable[[], Iterator[tuple[str, bytes]]]
"""Yields batches with the names that a report has for them."""


def sealed(data: bytes) -> bytes:
    """Return a batch with the CRC of its bytes."""
    crc = crc32c.crc32c(data[_ATTRIBUTES:])
    return data[:_CRC] + struct.pack(">I", crc) + data[_ATTRIBUTES:]


def with_field(place: int, layout: str, number: int, data: bytes | None = None) -> bytes:
    """Return a batch of two records, or another, with a field changed and its CRC right."""
    data = batch(2) if data is None else data
    packed = struct.pack(layout, number)
    return sealed(data[:place] + packed + data[place + len(packed) :])


def fields(place: int, layout: str, *numbers: int) -> Batches:
    """Return batches that have these numbers in a field."""
    return lambda: ((str(number), with_field(place, layout, number)) for number in numbers)


async def _produced(log: CheckedLog, data: bytes) -> int:
    code: int = (await log.produce(data)).error_code
    return code


def appends(sentence: str, batches: Batches, *codes: int, source: SentenceSource = _BATCH) -> Check:
    """Return a check of batches that get one of these error codes; none for any but 0."""
    legal = " or ".join(map(error_text, codes)) if codes else "an error"

    async def run(server: Server) -> None:
        log = await new_log(server)
        for name, data in batches():
            came = await _produced(log, data)
            if came in codes or (not codes and came):
                continue
            verdict = ConformanceVerdict.DIFFERS if came else ConformanceVerdict.FAIL
            raise Deviation(legal, f"{name}: {error_text(came)}", verdict)
        await others_served(server)

    return broker_scenario(gets(sentence, *codes), source)(run)


def _cut() -> Iterator[tuple[str, bytes]]:
    data = batch(2)
    for size in (8, 20, len(data) - 1):
        yield f"{size} bytes", data[:size]


def _too_long() -> Iterator[tuple[str, bytes]]:
    data = batch(2)
    yield "one byte more", with_field(_LENGTH, ">i", len(data) - 12 + 1)


def _too_short() -> Iterator[tuple[str, bytes]]:
    data = batch(2)
    yield "one byte less", data[:_LENGTH] + struct.pack(">i", len(data) - 13) + data[12:]


def _garbage() -> Iterator[tuple[str, bytes]]:
    for codec in _CODECS:
        yield codec.name.lower(), with_field(_ATTRIBUTES, ">h", codec)


def _cut_compressed() -> Iterator[tuple[str, bytes]]:
    for codec in _CODECS:
        data = batch(2, compression=codec)[:-4]
        yield codec.name.lower(), with_field(_LENGTH, ">i", len(data) - 12, data)


def _record_lengths() -> Iterator[tuple[str, bytes]]:
    data = batch(2)
    for name, length in (("-64", b"\x7f"), ("-1", b"\x01"), ("long", b"\xff\xff\xff\xff\x0f")):
        yield name, sealed(data[:_RECORDS] + length + data[_RECORDS + 1 :])


SECTION[1] = appends(
    "A batch whose length ends within its header gets",
    fields(_LENGTH, ">i", -1, 0, 13),
    ErrorCode.CORRUPT_MESSAGE,
    source=_READER,
)
SECTION[2] = appends(
    "A batch whose length is beyond its bytes gets",
    _too_long,
    ErrorCode.INVALID_RECORD,
    source=_WHOLE,
)
SECTION[3] = appends(
    "A batch with a length of 2^31-1 is refused.", fields(_LENGTH, ">i", (1 << 31) - 1)
)
SECTION[4] = appends(
    "A batch whose length ends within its records gets", _too_short, ErrorCode.CORRUPT_MESSAGE
)
SECTION[5] = appends("A batch that is cut off gets", _cut, ErrorCode.INVALID_RECORD, source=_WHOLE)
SECTION[6] = appends(
    "A wrong number of records gets",
    fields(_COUNT, ">i", 0, 1, 3, -1, (1 << 31) - 1),
    ErrorCode.INVALID_RECORD,
    source=_VALIDATOR,
)
SECTION[7] = appends(
    "A last offset that is not the last record's gets",
    fields(_LAST_DELTA, ">i", 0, 5, -1, (1 << 31) - 1),
    ErrorCode.INVALID_RECORD,
    source=_VALIDATOR,
)
SECTION[8] = appends(
    "An unknown compression is refused.",
    fields(_ATTRIBUTES, ">h", 5, 6, 7),
    source=kafka("CompressionType.forId"),
)
SECTION[9] = appends("Records that are not compressed as the header says are refused.", _garbage)
SECTION[10] = appends("Compressed records that are cut off are refused.", _cut_compressed)
SECTION[11] = appends(
    "An unknown format of batches gets",
    fields(_MAGIC, ">b", 3, 127, -1, -128),
    ErrorCode.CORRUPT_MESSAGE,
    source=_READER,
)
SECTION[12] = appends(
    "A base offset other than 0 gets",
    fields(0, ">q", 100, -5),
    ErrorCode.INVALID_RECORD,
    source=kafka("UnifiedLog.analyzeAndValidateRecords"),
)
SECTION[13] = appends(
    "Records with impossible lengths are refused.",
    _record_lengths,
    ErrorCode.INVALID_RECORD,
    ErrorCode.CORRUPT_MESSAGE,
)
SECTION[14] = appends(
    "A producer id without an epoch and a sequence gets",
    fields(_PRODUCER, ">q", 5),
    ErrorCode.INVALID_RECORD,
    source=_VALIDATOR,
)
SECTION[15] = appends(
    "Attributes without a meaning are ignored.",
    fields(_ATTRIBUTES, ">h", 0x80, 0x4000, -0x8000),
    ErrorCode.NONE,
    source=documentation("Record Batch"),
)


@SECTION.check(
    16,
    kafka("LogValidator.validateMessagesAndAssignOffsetsCompressed"),
    role=ServerRole.BROKER,
    needs=Need.RESOURCES,
)
async def _(server: Server) -> None:
    """A batch that is 16 MiB uncompressed is answered, and others are served."""
    log = await new_log(server)
    for codec in _CODECS:
        await _produced(log, batch(value=_BOMB, compression=codec))
        await others_served(server)


@SECTION.check(
    17, schema("ProduceRequest", "Records"), role=ServerRole.BROKER, needs=Need.RESOURCES
)
async def _(server: Server) -> None:
    """A Produce with null records, as its schema allows, is answered or ends the connection."""
    log = await new_log(server)
    server.allowed_ends = frozenset({ConnectionState.CLOSED, ConnectionState.RESET})
    request = produce_request(log.topic, None)
    reaction = await log.leader.exchange(request, log.leader.version_up_to(request, 12))
    expect(reaction.body is not None or reaction.connection.ended, "an answer", reaction)
