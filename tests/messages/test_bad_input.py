"""Hostile bytes: every engine refuses them quickly, with one error, on little memory.

The incidents behind these: CVE-2022-34917 and CVE-2026-111108 (claimed lengths), CVE-2026-111115
(floods of tagged fields), in Kafka; the same in other clients.
"""

import time
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from engines import PAIRS, Failed, decoded, encoded, side_by_side
from kwire.codec import engine_choice
from kwire.codec.compiler.runtime import TABLE_LIMIT, Uuids, int32s, lengths, text_lengths
from kwire.errors import DecodeError, InvalidValue
from kwire.messages.a03_metadata import MetadataRequest, MetadataRequestTopic
from kwire.messages.a18_api_versions import ApiVersionsRequest
from kwire.messages.a80_add_raft_voter import AddRaftVoterRequest

ENGINES = tuple(reversed(engine_choice.available()))
CLAIM = b"\0\0" + b"\xff\xff\xff\xff\x07" + b"\0\0\0\0"
"""11 bytes that claim 2^31 - 2 topics after two bytes of others."""


def cpu(call: Callable[[], Any]) -> float:
    """The least seconds of a few tries: a busy machine only adds."""
    times = []
    for _ in range(5):
        start = time.thread_time()
        call()
        times.append(time.thread_time() - start)
    return min(times)


def peak(call: Callable[[], Any]) -> int:
    """Most bytes of Python's memory in use during a call, over what was in use before."""
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    try:
        call()
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


def claims(width: int) -> Iterator[bytes]:
    """Bytes that claim a huge length at every place where one may stand."""
    for at in range(12):
        yield b"\0" * at + b"\x7f\xff\xff\xff" + b"\0" * width
        yield b"\x01" * at + b"\xff\xff\xff\xff\x07" + b"\x01" * width


@pytest.mark.parametrize("name", ENGINES)
def test_a_claim_of_two_thousand_million_elements_fails_at_once(name: str) -> None:
    made, _ = side_by_side(MetadataRequest, 9)[name]
    bad = CLAIM[2:]
    assert isinstance(decoded(made, bad), Failed)
    assert cpu(lambda: decoded(made, bad)) < 1e-3
    assert peak(lambda: decoded(made, bad)) < 64 * len(bad) + (1 << 20)


@pytest.mark.costly
@pytest.mark.parametrize("name", ENGINES)
def test_no_claim_anywhere_in_any_message_allocates_what_it_claims(name: str) -> None:
    for cls, version in PAIRS:
        made, _ = side_by_side(cls, version)[name]
        for bad in claims(4):
            decoded(made, bad)
    hungry = [
        (cls.__name__, version, bad.hex())
        for cls, version in PAIRS[::7]
        for bad in claims(4)
        if peak(lambda: decoded(side_by_side(cls, version)[name][0], bad)) > 1 << 20  # noqa: B023
    ]
    assert not hungry


@pytest.mark.parametrize("name", ENGINES)
def test_the_smallest_elements_stay_within_thirty_times_their_bytes(name: str) -> None:
    # The slow ones are as hungry with less.
    count = {"reference": 50_000, "compiled": 200_000}.get(name, 1_000_000)
    data = MetadataRequest(topics=[MetadataRequestTopic(name="")] * count).encode(9)
    made, _ = side_by_side(MetadataRequest, 9)[name]
    assert len(data) == pytest.approx(2 * count, abs=10)
    assert peak(lambda: made.decode(data)) < 30 * len(data)


@pytest.mark.parametrize("name", ENGINES)
def test_twenty_million_tagged_fields_are_refused_before_they_are_read(name: str) -> None:
    count = 20_000_000
    flood = b"\x01\x01" + b"\x80\xda\xc4\x09" + b"\x64\0" * count
    made, _ = side_by_side(ApiVersionsRequest, 3)[name]
    refused = decoded(made, flood)
    assert isinstance(refused, Failed)
    assert "20000000 tagged fields, 1000 allowed" in refused.words
    assert cpu(lambda: decoded(made, flood)) < 0.1
    assert peak(lambda: decoded(made, flood)) < 100_000_000


@pytest.mark.parametrize("name", ENGINES)
def test_a_negative_number_of_tagged_fields_is_refused_as_kafka_does_since_4_4(name: str) -> None:
    made, _ = side_by_side(ApiVersionsRequest, 3)[name]
    refused = decoded(made, b"\x01\x01" + b"\xff\xff\xff\xff\x0f")
    assert isinstance(refused, Failed)
    assert refused.words.endswith("-1 tagged fields")


@pytest.fixture
def _limit() -> Iterator[None]:
    yield
    engine_choice.limit_tags(1000)


@pytest.mark.usefixtures("_limit")
def test_the_limit_on_tagged_fields_can_be_set() -> None:
    request = AddRaftVoterRequest(unknown_tags=dict.fromkeys(range(1001), b""))
    data = request.encode(1)
    with pytest.raises(DecodeError, match="1001 tagged fields, 1000 allowed"):
        AddRaftVoterRequest.decode(data, 1)
    with pytest.raises(InvalidValue, match="-1 tagged fields"):
        engine_choice.limit_tags(-1)
    engine_choice.limit_tags(1001)
    for name in ENGINES:
        engine_choice.use(name)
        assert AddRaftVoterRequest.decode(data, 1) == request
    engine_choice.use(None)


@pytest.mark.parametrize("name", ENGINES)
def test_a_varint_of_six_bytes_is_refused(name: str) -> None:
    made, _ = side_by_side(ApiVersionsRequest, 3)[name]
    refused = decoded(made, b"\x80\x80\x80\x80\x80\x00\x01\0")
    assert isinstance(refused, Failed)
    assert "a varint of more than 5 bytes" in refused.words


@pytest.mark.parametrize("name", ENGINES)
def test_an_unknown_tag_may_not_be_written_over_a_declared_one(name: str) -> None:
    for cls, version in PAIRS:
        tags = cls.at(version).tags
        if tags is not None and tags.known:
            tag, field = next(iter(tags.known.items()))
            made, _ = side_by_side(cls, version)[name]
            refused = encoded(made, cls(unknown_tags={tag: b""}))
            assert isinstance(refused, Failed)
            assert refused.words.endswith(f"unknown tag {tag} is {field.name}'s tag")


def test_what_the_compiled_code_remembers_is_bounded() -> None:
    uuids = Uuids()
    for number in range(3 * TABLE_LIMIT):
        uuids[number.to_bytes(16, "big")]
    assert len(uuids) <= TABLE_LIMIT
    with pytest.raises(ValueError):  # noqa: PT011  # it carries no text: construct has it
        uuids[b"short"]
    for table in (int32s, lengths, text_lengths):
        for number in range(2 * TABLE_LIMIT):
            table[number]
        assert len(table) <= TABLE_LIMIT
