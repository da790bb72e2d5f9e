"""The engines agree on values, bytes and errors, whatever they are given; and one can be chosen.

Longer: KWIRE_EXAMPLES=20000.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engines import PAIRS, decoded, encoded, same, side_by_side
from engines.strategies import damaged, objects, spoilt
from kwire import Message
from kwire.codec import engine_choice
from kwire.codec.compiler import Compiled
from kwire.codec.reference import Reference
from kwire.errors import DecodeError, EncodeError, InvalidValue, LocalError
from kwire.messages.a43_elect_leaders import ElectLeadersRequest
from kwire.messages.a80_add_raft_voter import AddRaftVoterRequest
from kwire.messages.coordinators.consumer_group_member_metadata import (
    ConsumerGroupMemberMetadataValue,
)

Pair = tuple[type[Message], int]

EXAMPLES = os.environ.get("KWIRE_EXAMPLES")

MANY = settings(
    max_examples=int(EXAMPLES or 100),
    deadline=None,
    suppress_health_check=list(HealthCheck),
)


@MANY
@given(st.data(), st.sampled_from(PAIRS))
def test_engines_write_the_same_bytes_and_read_the_object_back(
    data: st.DataObject, pair: Pair
) -> None:
    obj = data.draw(objects(*pair))
    engines = side_by_side(*pair)
    expected = encoded(engines["reference"][0], obj)
    assert isinstance(expected, bytes)
    for name, (made, _) in engines.items():
        assert encoded(made, obj) == expected, name
        assert same(decoded(made, expected), (obj, len(expected))), name


@MANY
@given(st.data(), st.sampled_from(PAIRS))
def test_engines_refuse_a_wrong_value_with_the_same_words(data: st.DataObject, pair: Pair) -> None:
    obj = data.draw(spoilt(*pair))
    engines = side_by_side(*pair)
    expected = encoded(engines["reference"][0], obj)
    for name, (made, _) in engines.items():
        assert encoded(made, obj) == expected, name


@pytest.mark.parametrize(
    ("count", "is_null"),
    [("00", True), ("8080808008", False), ("8180808008", True), ("ffffffff0f", True)],
)
def test_a_compact_length_is_one_less_in_32_bits(count: str, is_null: bool) -> None:
    """As in Java: 2^31 claims 2^31-1 elements, every number above it is a negative length."""
    body = bytes.fromhex(f"00{count}000003e800")
    for name, (made, _) in side_by_side(ElectLeadersRequest, 2).items():
        if is_null:
            assert made.decode(body)[0].topic_partitions is None, name
        else:
            with pytest.raises(DecodeError, match="2147483647 elements claimed"):
                made.decode(body)


@pytest.mark.parametrize(
    ("marker", "is_null"),
    [("00", True), ("8080808008", True), ("ffffffff0f", True), ("8001", False), ("02", False)],
)
def test_a_nullable_struct_in_a_tag_is_null_if_its_marker_is_not_above_0(
    marker: str, is_null: bool
) -> None:
    """As in Java, whose readUnsignedVarint returns an int: 2^31 is below 0."""
    struct = "000000020100"
    body = bytes.fromhex(f"01010101010180000000010100{len(marker) // 2 + 6:02x}{marker}{struct}")
    for name, (made, _) in side_by_side(ConsumerGroupMemberMetadataValue, 0).items():
        found, end = made.decode(body)
        assert (found.classic_member_metadata is None) == is_null, name
        # Nobody asks how long a tag is that is known: after null the message is over.
        assert end == len(body) - (len(struct) // 2 if is_null else 0), name


@pytest.mark.parametrize("value", ["false", 0, 1, None, 1.0, []])
def test_no_engine_takes_anything_but_a_bool_for_one(value: Any) -> None:
    obj = AddRaftVoterRequest(ack_when_committed=value)
    for name, (made, _) in side_by_side(AddRaftVoterRequest, 1).items():
        with pytest.raises(EncodeError, match="is no boolean") as refused:
            made.encode(obj)
        assert refused.value.path == "ack_when_committed", name


@pytest.mark.parametrize("tag", [-1, 1 << 32])
def test_no_engine_writes_a_tag_of_more_than_32_bits(tag: int) -> None:
    """Java's ByteUtils.writeUnsignedVarint takes an int."""
    obj = AddRaftVoterRequest(unknown_tags={tag: b""})
    for name, (made, _) in side_by_side(AddRaftVoterRequest, 1).items():
        with pytest.raises(EncodeError, match=f"{tag} does not fit an unsigned varint"):
            pytest.fail(f"{name} wrote {made.encode(obj).hex()}")


@MANY
@given(st.data(), st.sampled_from(PAIRS))
def test_engines_read_damaged_bytes_alike(data: st.DataObject, pair: Pair) -> None:
    good = side_by_side(*pair)["reference"][0].encode(data.draw(objects(*pair)))
    bad = data.draw(damaged(good))
    offset = data.draw(st.integers(0, 2))
    expected = decoded(side_by_side(*pair)["reference"][0], bad, offset)
    for name, (made, _) in side_by_side(*pair).items():
        assert same(decoded(made, bad, offset), expected), name


@pytest.fixture
def _free_choice() -> Iterator[None]:
    yield
    engine_choice.use(None)


@pytest.mark.usefixtures("_free_choice")
def test_an_engine_can_be_forced_and_the_choice_given_back() -> None:
    engine_choice.use("reference")
    assert isinstance(AddRaftVoterRequest.engine(1), Reference)
    engine_choice.use("compiled")
    assert isinstance(AddRaftVoterRequest.engine(1), Compiled)
    engine_choice.use(None)
    fastest = {"native": "Program", "compiled": "Compiled"}[engine_choice.available()[0]]
    assert type(AddRaftVoterRequest.engine(1)).__name__ == fastest


def test_an_unknown_engine_is_refused_by_name() -> None:
    with pytest.raises(LocalError, match="no engine is called 'fast'"):
        engine_choice.use("fast")


def test_the_environment_chooses_too() -> None:
    code = (
        "from kwire.messages.headers import RequestHeader as r; print(type(r.engine(2)).__name__)"
    )
    environment = {**os.environ, "KWIRE_ENGINE": "reference"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == "Reference\n"


def test_the_bare_functions_take_an_offset_and_give_the_end() -> None:
    request = AddRaftVoterRequest(voter_id=3)
    data = AddRaftVoterRequest.encoder(1)(request)
    assert data == request.encode(1)
    decode = AddRaftVoterRequest.decoder(1)
    assert decode(data) == (request, len(data))
    assert decode(b"..." + data + b".", 3) == (request, 3 + len(data))
    with pytest.raises(DecodeError, match=r"voter_id at byte 5: the bytes end inside this field"):
        AddRaftVoterRequest.decode(data[:7], 1)
    with pytest.raises(InvalidValue, match="offset -1 lies before the data"):
        AddRaftVoterRequest.decode_from(data, 1, -1)


@pytest.mark.parametrize("name", engine_choice.available())
def test_any_buffer_is_read_and_anything_else_is_a_type_error(name: str) -> None:
    made, _ = side_by_side(AddRaftVoterRequest, 1)[name]
    request = AddRaftVoterRequest(cluster_id="four", voter_id=3)
    data = request.encode(1)
    assert len(data) % 4 == 0
    strided = memoryview(bytes(byte for pair in zip(data, data, strict=True) for byte in pair))
    for buffer in (bytearray(data), memoryview(data).cast("I"), strided[::2]):
        assert made.decode(buffer) == (request, len(data))
    for wrong in ("text", 5, None, [1, 2]):
        with pytest.raises(TypeError):
            made.decode(wrong)
    assert AddRaftVoterRequest.decode(memoryview(data).cast("I"), 1) == request
