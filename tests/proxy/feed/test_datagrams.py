"""The feed's datagrams: as docs/watch.md writes them down, and nothing else gets through."""

import hashlib
import hmac

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kwire.capture import CaptureRecord
from kwire.proxy.feed.datagrams import (
    BadDatagram,
    Challenge,
    CommandResult,
    Edit,
    FlowPart,
    FromProxy,
    FromViewer,
    GetFlow,
    Leave,
    Release,
    Seen,
    SetHold,
    ShownEvent,
    Status,
    Subscribe,
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
VIEWERS: list[FromViewer] = [
    Subscribe(cookie=b"c", backlog=9),
    Leave(cookie=b"c"),
    GetFlow(cookie=b"c", flow=3, part=1),
    SetHold(cookie=b"c", number=1, expression="~api Vote"),
    Release(cookie=b"c", number=2, flow=3, how="drop"),
    Edit(cookie=b"c", number=3, flow=3, path="a.b", value="1"),
]
PROXYS: list[FromProxy] = [
    Challenge(cookie=b"c"),
    Status(feed="f", sequence=2, seconds=10.0, held=(3,), hold="~api Vote", controls=True),
    Seen(sequence=1, events=(encode_shown_event(SHOWN),)),
    FlowPart(flow=3, part=0, parts=2, data=b"x"),
    CommandResult(number=1, problem="no"),
]


def test_a_datagram_is_what_the_documentation_says() -> None:
    body = bytes.fromhex("81 a4") + b"type" + b"\xa9subscribe"
    seal = hmac.new(b"token", body, hashlib.sha256).digest()[:16]
    assert encode(Subscribe(), b"token") == b"kwf\x01" + seal + body


@pytest.mark.parametrize("message", VIEWERS, ids=lambda one: type(one).__name__)
def test_what_a_viewer_says_arrives(message: FromViewer) -> None:
    assert decode_from_viewer(encode(message, b"t"), b"t") == message


@pytest.mark.parametrize("message", PROXYS, ids=lambda one: type(one).__name__)
def test_what_a_proxy_says_arrives(message: FromProxy) -> None:
    assert decode_from_proxy(encode(message, b"t"), b"t") == message


def test_an_event_arrives_within_what_was_seen() -> None:
    assert decode_shown_event(encode_shown_event(SHOWN)) == SHOWN
    with pytest.raises(BadDatagram, match="not a message of the feed"):
        decode_shown_event(msgspec.Raw(b"\x81\xa4type\xa4seen"))


def test_keys_that_a_reader_does_not_know_are_passed_over() -> None:
    body = bytes.fromhex("82 a4") + b"type" + b"\xa9subscribe" + b"\xa3new\x01"
    data = b"kwf\x01" + hmac.digest(b"", body, "sha256")[:16] + body
    assert decode_from_viewer(data, b"") == Subscribe()


WRONG = {
    "nothing": (b"", "not a datagram of a feed"),
    "another protocol": (b"GET / HTTP/1.1\r\nhost: a\r\n\r\n", "not a datagram of a feed"),
    "a later version": (b"kwf\x02" + bytes(40), "version 2 of the feed, where 1 is spoken"),
    "another token": (encode(Subscribe(), b"other"), "sealed with another token, or damaged"),
    "a proxy's": (encode(Challenge(cookie=b""), b""), "not a message of the feed"),
    "a field of another type": (encode(GetFlow(cookie=b"", flow="x"), b""), "not a message"),  # type: ignore[arg-type]
}


@pytest.mark.parametrize(("data", "said"), WRONG.values(), ids=list(WRONG))
def test_anything_else_is_refused_in_a_sentence(data: bytes, said: str) -> None:
    with pytest.raises(BadDatagram, match=said):
        decode_from_viewer(data, b"")


@given(st.binary(max_size=200))
def test_whatever_is_sealed_is_a_message_or_refused(body: bytes) -> None:
    data = b"kwf\x01" + hmac.digest(b"", body, "sha256")[:16] + body
    for read in (decode_from_viewer, decode_from_proxy):
        with pytest.raises(BadDatagram):
            read(data, b"")
    with pytest.raises(BadDatagram):
        decode_records(b"\x91" + body)
