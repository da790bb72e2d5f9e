"""The native decoder of captured records does what the schema says, and leaves the rest to it."""

from __future__ import annotations

import tracemalloc
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kwire.capture import RecordEncoder
from kwire.capture.avro import long_bytes
from kwire.capture.encoding import RecordDecoder
from kwire.capture.record import CaptureRecord
from kwire.capture.schema import CRC_SIZE, VERSION
from kwire.codec import engine_choice
from tests.support.capture.capture_records import KINDS, record
from tests.support.capture.native import decoder_attack as attack
from tests.support.native_extensions import assert_nothing_leaks


def test_both_judge_mutants_alike() -> None:
    read, refused = attack.mutants(33, 3_000)
    assert min(read, refused) > 300


INT64 = st.integers(-(1 << 63), (1 << 63) - 1)
TEXT = st.text(max_size=9)
RECORDS = st.builds(
    CaptureRecord,
    capture=TEXT,
    connection=INT64,
    node_id=st.none() | INT64,
    client=TEXT,
    upstream=TEXT,
    kind=st.sampled_from(["REQUEST", "RESPONSE", "NOTICE"]),
    event=INT64,
    at_us=INT64,
    monotonic_ns=INT64,
    frame=st.none() | st.binary(max_size=40),
    problems=st.lists(TEXT, max_size=3).map(tuple),
    deeds=st.lists(TEXT, max_size=3).map(tuple),
    text=st.none() | TEXT,
)


@given(st.lists(RECORDS, min_size=1, max_size=3))
def test_records_come_back(made: list[CaptureRecord]) -> None:
    decoder, both, encoder = RecordDecoder(VERSION), attack.Both(VERSION), RecordEncoder()
    data, position = b"".join(map(encoder.encode, made)), 0
    for one in made:
        assert both.agree(data, position)
        decoded, position = decoder.decode(data, position)
        assert decoded == one


def test_an_array_in_blocks_is_one() -> None:
    encoded = RecordEncoder().encode(record(problems=("a",)))[:-CRC_SIZE]
    blocks = b"\x01\x04\x02b" + b"\x02\x02c" + b"\x00"
    data = encoded.replace(b"\x02\x02a\x00", blocks, 1) + bytes(CRC_SIZE)
    both = attack.Both(VERSION)
    assert both.agree(data)
    decoded = both.native.decode(data, 0)
    assert decoded is not None
    assert decoded[0].problems == ("b", "c")


@pytest.mark.parametrize("choice", [-1, 3, 1 << 40])
def test_a_kind_that_there_is_not_is_left_to_the_schema(choice: int) -> None:
    request, notice = (RecordEncoder().encode(record(kind=kind)) for kind in ("REQUEST", "NOTICE"))
    place = next(n for n, (a, b) in enumerate(zip(request, notice, strict=True)) if a != b)
    data = request[:place] + long_bytes(choice) + request[place + 1 :]
    assert not attack.Both(VERSION).agree(data)


def test_a_claim_takes_no_memory() -> None:
    native = attack.decoder_of(VERSION)
    head = (
        RecordEncoder().encode(record(problems=("a",)))[:-CRC_SIZE].partition(b"\x02\x02a\x00")[0]
    )
    tracemalloc.start()
    try:
        assert native.decode(head + long_bytes(1 << 62), 0) is None
        assert native.decode(long_bytes(1 << 40) + bytes(9), 0) is None
        assert tracemalloc.get_traced_memory()[1] < 10_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("arguments", [(bytearray(9), 0), (b"", -1), (b"", 1), (b"", 1 << 70)])
def test_what_is_no_block_is_left_to_the_schema(arguments: Any) -> None:
    assert attack.decoder_of(VERSION).decode(*arguments) is None


def test_calls_of_another_form_are_errors() -> None:
    decoder: Any = attack.decoder_of(VERSION)
    with pytest.raises(TypeError, match="takes"):
        decoder.decode(b"")


class OneText(msgspec.Struct, gc=False):
    """A class with one field."""

    name: str


class TwoTexts(msgspec.Struct, gc=False):
    """A class with two."""

    name: str
    other: str


class Tracked(msgspec.Struct):
    """One that the collector knows."""

    name: str


@pytest.mark.parametrize(
    ("cls", "parts"),
    [
        (OneText, ()),
        (OneText, (("name", "no kind", ()),)),
        (OneText, (("other", "text", ()),)),
        (OneText, (("name", "choice", []),)),
        (OneText, (("name", "text", ()), ("name", "text", ()))),
        (TwoTexts, (("name", "text", ()), ("name", "text", ()))),
        (Tracked, (("name", "text", ()),)),
        (int, ()),
    ],
)
def test_a_description_that_does_not_fit_is_refused(cls: Any, parts: Any) -> None:
    from kwire.capture.native import Decoder

    with pytest.raises((ValueError, KeyError)):
        Decoder(cls, parts)


def test_another_engine_is_forced_upon_captures_too() -> None:
    engine_choice.use("reference")
    try:
        assert RecordDecoder(VERSION)._native is None
    finally:
        engine_choice.use(None)
    assert RecordDecoder(VERSION)._native is not None


def test_nothing_leaks() -> None:
    decoder, encoder = attack.decoder_of(VERSION), RecordEncoder()
    good = [encoder.encode(kind) for kind in KINDS]

    def work() -> None:
        for data in good:
            assert decoder.decode(data, 0)
            for size in range(0, len(data) - CRC_SIZE, 7):
                decoder.decode(data[:size], 0)

    assert_nothing_leaks(work, 200, CaptureRecord, None, ())
