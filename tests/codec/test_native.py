"""The native engine does what the reference does, faster, and knows when it cannot."""

from __future__ import annotations

import gc
import sys
from importlib import import_module
from typing import Any, cast

import pytest

import kwire
from kwire.codec import engine
from kwire.messages.a01_fetch import FetchResponse
from kwire.messages.a03_metadata import MetadataRequest
from kwire.messages.a17_sasl_handshake import SaslHandshakeRequest
from tests.support.codec.native.attack import Pair, native
from tests.support.native_extensions import assert_nothing_leaks


def program(name: str, version: int) -> native.Program:
    return Pair(name, version).native


def test_every_message_has_a_native_engine_at_every_version() -> None:
    lacking = [
        (cls.__name__, version)
        for cls in kwire.all_messages()
        for version in cls.versions
        if native.engine(cls.reference(version)) is None
    ]
    assert lacking == []


def test_the_engine_that_kwire_takes_is_the_native_one() -> None:
    assert isinstance(kwire.message("FetchRequest").engine(13), native.Program)


PRODUCER_IDS = "00 00 00 01 01 02 03 04 05 06 07 08"
"""AllocateProducerIdsRequest up to its tags."""

SNAPSHOT = "00 00 00 00 00 00 00 00 01"
"""FetchSnapshotRequest up to its tags."""

ACCEPTED = {
    "a null array": ("DescribeUserScramCredentialsRequest", 0, "00 00"),
    "length -32768, length 0": ("EndQuorumEpochRequest", 0, "80 00 00 00 00 00"),
    "length -2, a bool of 7": ("MetadataRequest", 4, "ff ff ff fe 07"),
    "tag -1": ("AllocateProducerIdsRequest", 0, PRODUCER_IDS + "01 ff ff ff ff 0f 00"),
    "the same tag twice": (
        "AllocateProducerIdsRequest",
        0,
        PRODUCER_IDS + "02 07 01 aa 07 01 bb",
    ),
    "tags out of order": ("AllocateProducerIdsRequest", 0, PRODUCER_IDS + "02 09 00 07 01 bb"),
    "a known tag of a wrong size": ("FetchSnapshotRequest", 0, SNAPSHOT + "01 00 01 03 61 62"),
    "a known tag twice": ("FetchSnapshotRequest", 0, SNAPSHOT + "02 00 02 02 61 00 02 02 62"),
    "no UTF-8": ("SaslHandshakeRequest", 0, "00 03 61 ff c3"),
    "an encoded surrogate": ("SaslHandshakeRequest", 0, "00 05 ed a0 80 61 62"),
    "the longest string": (
        "HeartbeatRequest",
        4,
        "80 80 02" + "61" * 32767 + "00 00 00 00 01 00 00",
    ),
    "a struct of nothing": ("NoOpRecord", 0, "00"),
}

REJECTED = {
    "a null that is not allowed": ("ListTransactionsRequest", 0, "00 00 00"),
    "null bytes": ("SaslAuthenticateRequest", 0, "ff ff ff ff"),
    "a varint of 35 bits": ("ListTransactionsRequest", 0, "ff ff ff ff 7f 01 00"),
    "a varint of 6 bytes": ("ListTransactionsRequest", 0, "80 80 80 80 80 01 01 00"),
    "2^31 elements": ("ListTransactionsRequest", 0, "ff ff ff ff 07 01 00"),
    "-1 tags": ("AllocateProducerIdsRequest", 0, PRODUCER_IDS + "ff ff ff ff 0f"),
    "1001 tags": ("AllocateProducerIdsRequest", 0, PRODUCER_IDS + "e9 07" + "05 00" * 1001),
    "a tag of size -1": ("AllocateProducerIdsRequest", 0, PRODUCER_IDS + "01 07 ff ff ff ff 0f"),
    "a known tag cut short": ("FetchSnapshotRequest", 0, SNAPSHOT + "01 00 03 05 61"),
    "too long a string": (
        "HeartbeatRequest",
        4,
        "81 80 02" + "61" * 32768 + "00 00 00 00 01 00 00",
    ),
    "half an integer": ("AllocateProducerIdsRequest", 0, PRODUCER_IDS[:-3]),
    "nothing at all": ("NoOpRecord", 0, ""),
}


@pytest.mark.parametrize("odd", ACCEPTED)
def test_odd_bytes_are_read_as_the_reference_reads_them(odd: str) -> None:
    name, version, data = ACCEPTED[odd]
    assert Pair(name, version).agree_on_bytes(bytes.fromhex(data))


@pytest.mark.parametrize("odd", REJECTED)
def test_wrong_bytes_are_refused_as_the_reference_refuses_them(odd: str) -> None:
    name, version, data = REJECTED[odd]
    assert not Pair(name, version).agree_on_bytes(bytes.fromhex(data))


@pytest.mark.parametrize("form", [bytes, bytearray, memoryview, lambda data: memoryview(data)[::2]])
def test_any_buffer_and_offset_is_taken_as_the_reference_takes_it(
    form: Any, subtests: pytest.Subtests
) -> None:
    pair = Pair("SaslHandshakeRequest", 0)
    data = form(bytes.fromhex("00 01 61 00 01 62"))
    for offset in (0, 3, 5, 6, -1, 1 << 70):
        with subtests.test(offset=offset):
            outcomes = []
            for made in (pair.reference, pair.native):
                try:
                    outcomes.append(repr(made.decode(data, offset)))
                except Exception as error:
                    outcomes.append(f"{type(error)} {error}")
            assert outcomes[0] == outcomes[1]


def test_an_offset_is_optional_and_the_end_is_told() -> None:
    obj, end = program("SaslHandshakeRequest", 0).decode(b"\0\1a rest")
    assert (getattr(obj, "mechanism", None), end) == ("a", 3)


def test_what_it_gives_up_is_counted_and_raised_with_its_path() -> None:
    made = program("MetadataRequest", 4)
    with pytest.raises(kwire.DecodeError, match=r"MetadataRequest v4 topics\[0\]\.name"):
        made.decode(bytes.fromhex("00 00 00 01 00 09 61"), 0)
    with pytest.raises(kwire.EncodeError, match="topics"):
        made.encode(MetadataRequest(topics=cast(Any, 5)))
    assert made.fallbacks == 2


def test_a_claim_is_checked_before_anything_is_allocated() -> None:
    made = program("MetadataRequest", 4)
    before = sys.getallocatedblocks()
    with pytest.raises(kwire.DecodeError, match="elements claimed"):
        made.decode(bytes.fromhex("7f ff ff ff 00 00 00"), 0)
    assert sys.getallocatedblocks() - before < 1_000


def test_the_limits_are_those_of_the_reference(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "TAG_LIMIT", 1)
    monkeypatch.setattr(engine, "STRING_LIMIT", 2)
    made = program("NoOpRecord", 0)
    assert made.decode(bytes.fromhex("01 05 00"), 0)[0].unknown_tags == {5: b""}
    with pytest.raises(kwire.DecodeError, match="1 allowed"):
        made.decode(bytes.fromhex("02 05 00 06 00"), 0)
    with pytest.raises(kwire.EncodeError, match="2 allowed"):
        program("SaslHandshakeRequest", 0).encode(SaslHandshakeRequest(mechanism="abc"))


def test_defaults_that_can_change_are_not_shared() -> None:
    made = program("MetadataResponse", 0)
    one, two = (made.decode(b"\0\0\0\0\0\0\0\0", 0)[0] for _ in range(2))
    one.topics.append(None)
    assert two.topics == []


def test_objects_are_as_good_as_those_of_the_class_itself() -> None:
    cls = kwire.message("MetadataResponse")
    made, _ = program("MetadataResponse", 12).decode(cls().encode(12), 0)
    assert made == cls()
    assert repr(made) == repr(cls())
    assert made.replace(topics=[]) == made
    assert gc.is_tracked(made) == gc.is_tracked(cls())


def test_nothing_leaks() -> None:
    pair = Pair("FetchResponse", 13)
    obj = FetchResponse(error_code=5, unknown_tags={900: b"x", 7000: b"y"})
    data = pair.native.encode(obj)

    def work() -> None:
        made, _ = pair.native.decode(data, 0)
        pair.native.encode(made)
        for wrong in (data[:-1], data[:3], data + b"\x81"):
            pair.agree_on_bytes(wrong)
        made.responses = [1]
        pair.agree_on_object(made)

    assert_nothing_leaks(work, 5_000, FetchResponse, None, True, *type(pair.native).__mro__)


STRUCT = SaslHandshakeRequest
# Where the engine is not built, the import of tests.native.attack has skipped this module by now.
tables = import_module("kwire.codec.native.tables")
GOOD = tables.describe(STRUCT.at(0))


def struct(*members: Any, cls: type = STRUCT) -> tuple[Any, ...]:
    """A text, and a struct of it with these members."""
    return GOOD[0], ("struct", cls, True, members)


@pytest.mark.parametrize(
    "parts",
    [
        pytest.param((), id="nothing"),
        pytest.param((5,), id="no tuple"),
        pytest.param((("int9",),), id="no such kind"),
        pytest.param((("text", "int9", False),), id="no such width"),
        pytest.param((("text",),), id="no width"),
        pytest.param((("optional", "int8", -1, 0),), id="its own child"),
        pytest.param((("list", "int32", False, 1, 1), ("int8",)), id="a child behind its parent"),
        pytest.param((("int8",), ("list", "int32", False, 1, -1)), id="a child before all"),
        pytest.param((("int64",), ("tuple", "int32", False, 7, 0)), id="too small a least size"),
        pytest.param((*GOOD, ("tuple", "int32", False, 1, 1)), id="structs in a tuple"),
        pytest.param(struct(), id="a slot without a field"),
        pytest.param(struct(("nothing", 0, -1, None, None, False)), id="no such member"),
        pytest.param(struct(("unknown_tags", 0, -1, None, None, False)), id="one slot twice"),
        pytest.param(struct(("mechanism", 0, -2, "", None, False), 5), id="no tuple as a member"),
        pytest.param(struct(("mechanism", 0, 1 << 32, "", None, False)), id="too large a tag"),
        pytest.param(struct(("mechanism", -1, 5, "", None, False)), id="a tag of nothing"),
        pytest.param(struct(("mechanism", 1, -1, "", None, False)), id="a struct in itself"),
        pytest.param(struct(cls=int), id="a class of C's own"),
        pytest.param(struct(cls=Pair), id="a class with a dict"),
    ],
)
def test_a_description_that_does_not_fit_is_refused(parts: tuple[Any, ...]) -> None:
    with pytest.raises((ValueError, TypeError, KeyError, SystemError)):
        native.Program(parts, lambda data, offset: (data, offset), lambda obj: b"", 9, 9)
