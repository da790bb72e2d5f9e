"""Heads of requests: how far the data path reads, and where it gives up."""

from itertools import product

import pytest

from kwire.messages.a00_produce import ProduceRequest
from kwire.proxy.flows.heads import HEAD_LIMIT, REQUEST, More, RestOfHead, rest_of_head
from tests.support.proxy.dialogue import asked


def read(frame: bytes, upto: int | None = None) -> RestOfHead:
    """Return the rest of the head of a frame of which the first bytes are there."""
    size, key, version, _ = REQUEST.unpack_from(frame)
    return rest_of_head(frame, 0, len(frame) if upto is None else upto, size, key, version)


def test_acks_are_found_in_every_version(subtests: pytest.Subtests) -> None:
    cases = product(range(14), [0, 1, -1], [None, "", "t", "t" * 200])
    for version, acks, transactional_id in cases:
        with subtests.test(version=version, acks=acks, transactional_id=transactional_id):
            named = transactional_id if version >= 3 else None
            request = ProduceRequest(acks=acks, transactional_id=named)
            assert read(asked(request, version, 1, "me")) == ("me", acks, "")


def test_a_head_that_is_not_all_there_asks_for_what_it_needs() -> None:
    frame = asked(ProduceRequest(acks=0, transactional_id="t" * 200), 9, 1, "me")
    with pytest.raises(More) as first:
        read(frame, 13)
    assert first.value.need == 14
    with pytest.raises(More) as second:
        read(frame, 14)
    assert second.value.need == 16
    with pytest.raises(More) as third:
        read(frame, 16)
    assert third.value.need == len(frame)


def test_acks_behind_the_limit_are_not_waited_for() -> None:
    frame = asked(ProduceRequest(acks=0, transactional_id="t" * 5000), 9, 1, "me")
    assert read(frame, HEAD_LIMIT) == ("me", None, "")


def test_a_client_id_as_long_as_the_protocol_allows_is_cut() -> None:
    frame = asked(ProduceRequest(acks=0), 9, 1, "c" * 32_767)
    client_id, acks, problem = read(frame)
    assert client_id is not None
    assert set(client_id) == {"c"}
    assert len(client_id) < HEAD_LIMIT
    assert (acks, problem) == (0, "")
