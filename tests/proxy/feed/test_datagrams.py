"""The feed's datagrams: as feed-format.md writes them down, and nothing else gets through."""

import hashlib
import hmac

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kwire.capture import CaptureRecord
from kwire.errors import InvalidValue
from kwire.proxy.feed.datagrams import (
    BadDatagram,
    Challenge,
    CommandResult,
    Edit,
    FetchedPart,
    FromProxy,
    FromViewer,
    GetFlow,
    Leave,
    Release,
    Seen,
    SetHold,
    ShownEvent,
    Stamp,
    Status,
    Subscribe,
    check_token,
    decode_from_proxy,
    decode_from_viewer,
    decode_records,
    decode_shown_event,
    encode,
    encode_shown_event,
)

RECORD = CaptureRecord(
    capture="c", connection=1, client="a:1", upstream="b:2", kind="NOTICE", event=0, at_us=1,
    monotonic_ns=2,
)  # fmt: skip
SHOWN = ShownEvent(records=(RECORD,), held=True)
STAMP = Stamp(feed=b"F" * 16, session=b"S" * 24, number=258, time=1 << 40)
STAMPED = b"F" * 16 + b"S" * 24 + bytes.fromhex("0000000000000102 0000010000000000")
VIEWERS: list[FromViewer] = [
    Subscribe(nonce=b"n", backlog=9),
    Leave(),
    GetFlow(number=4, flow=3, part=1),
    SetHold(number=1, expression="~api Vote"),
    Release(number=2, flow=3, how="drop"),
    Edit(number=3, flow=3, path="a.b", value="1"),
]
PROXYS: list[FromProxy] = [
    Challenge(nonce=b"n"),
    Status(feed="f", sequence=2, seconds=10.0, held=(3,), hold="~api Vote", controls=True),
    Seen(sequence=1, events=(encode_shown_event(SHOWN),)),
    FetchedPart(number=4, part=0, parts=2, data=b"x"),
    CommandResult(number=1, problem="no"),
]


def test_a_datagram_is_what_the_documentation_says() -> None:
    body = bytes.fromhex("82 a4") + b"type" + b"\xa9subscribe" + b"\xa5nonce" + b"\xc4\x01n"
    sealed = b"kwf\x03" + STAMPED + body
    seal = hmac.new(b"token", sealed, hashlib.sha256).digest()[:16]
    data = encode(Subscribe(nonce=b"n"), STAMP, b"token")
    assert data == b"kwf\x03" + seal + STAMPED + body


def test_a_first_datagram_has_a_stamp_of_zeros() -> None:
    assert encode(Subscribe(nonce=b"n"), Stamp(), b"")[20:76] == bytes(56)


def sealed(body: bytes) -> bytes:
    """Seal a map without a token, under a stamp of zeros."""
    seal = hmac.digest(b"", b"kwf\x03" + bytes(56) + body, "sha256")[:16]
    return b"kwf\x03" + seal + bytes(56) + body


@pytest.mark.parametrize("message", VIEWERS, ids=lambda one: type(one).__name__)
def test_what_a_viewer_says_arrives(message: FromViewer) -> None:
    assert decode_from_viewer(encode(message, STAMP, b"t"), b"t") == (STAMP, message)


@pytest.mark.parametrize("message", PROXYS, ids=lambda one: type(one).__name__)
def test_what_a_proxy_says_arrives(message: FromProxy) -> None:
    assert decode_from_proxy(encode(message, STAMP, b"t"), b"t") == (STAMP, message)


def test_an_event_arrives_within_what_was_seen() -> None:
    assert decode_shown_event(encode_shown_event(SHOWN)) == SHOWN
    with pytest.raises(BadDatagram, match="not a message of the feed"):
        decode_shown_event(msgspec.Raw(b"\x81\xa4type\xa4seen"))


def test_keys_that_a_reader_does_not_know_are_passed_over() -> None:
    body = bytes.fromhex("82 a4") + b"type" + b"\xa5leave" + b"\xa3new\x01"
    assert decode_from_viewer(sealed(body), b"") == (Stamp(), Leave())


WRONG = {
    "nothing": (b"", "not a datagram of a feed"),
    "another protocol": (b"GET / HTTP/1.1\r\nhost: a\r\n\r\n", "not a datagram of a feed"),
    "an earlier version": (b"kwf\x02" + bytes(90), "version 2 of the feed, where 3 is spoken"),
    "a part": (encode(Leave(), STAMP, b"")[:75], "a datagram that ends after 75 bytes"),
    "another token": (encode(Leave(), STAMP, b"other"), "sealed with another token, or damaged"),
    "a proxy's": (encode(Challenge(nonce=b""), STAMP, b""), "not a message of the feed"),
    "a field of another type": (encode(GetFlow(number=1, flow="x"), STAMP, b""), "not a message"),  # type: ignore[arg-type]
    "a deep one": (sealed(b"\x81\xa1x" + b"\x91" * 8000 + b"\xc0"), "not a message of the feed"),
}


@pytest.mark.parametrize(("data", "said"), WRONG.values(), ids=list(WRONG))
def test_anything_else_is_refused_in_a_sentence(data: bytes, said: str) -> None:
    with pytest.raises(BadDatagram, match=said):
        decode_from_viewer(data, b"")


@given(st.binary(max_size=200))
def test_whatever_is_sealed_is_a_message_or_refused(body: bytes) -> None:
    data = sealed(body)
    for read in (decode_from_viewer, decode_from_proxy):
        with pytest.raises(BadDatagram):
            read(data, b"")
    with pytest.raises(BadDatagram):
        decode_records(b"\x91" + body)


@given(st.integers(4, 75), st.integers(0, 7))
def test_no_bit_of_a_datagram_can_be_changed(byte: int, bit: int) -> None:
    data = bytearray(encode(Leave(), STAMP, b"t"))
    data[byte] ^= 1 << bit
    with pytest.raises(BadDatagram, match="sealed with another token, or damaged"):
        decode_from_viewer(bytes(data), b"t")


def test_a_token_that_can_be_guessed_is_refused_and_a_good_one_shown() -> None:
    check_token(b"")
    check_token(b"0123456789abcdef")
    with pytest.raises(InvalidValue, match=r"a token of 15 bytes, .* 16 are the least.*openssl"):
        check_token(b"0123456789abcde")
