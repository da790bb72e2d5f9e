"""Events of packets that still come: each within two moments of its bytes."""

from typing import Any

import pytest

from kwire.proxy import Flow, Notice, NoticeKind, Outcome
from kwire.proxy.capture.pcap_import import PacketImport
from kwire.proxy.feed.source import UNANSWERED, FeedEvent, packet_events
from tests.support.proxy.capture.growing import Growing
from tests.support.proxy.capture.packets import Sent, Talk, pcap, request

MOMENT = b""
HEAD = len(pcap([]))


def growing(*parts: list[Sent]) -> Growing:
    """A file with these packets, and a moment behind those of each part."""
    pieces = [pcap([])[:HEAD]]
    for packets in parts:
        pieces += [pcap(packets)[HEAD:], MOMENT]
    return Growing(pieces)


def watched(*parts: list[Sent]) -> list[FeedEvent]:
    file: Any = growing(*parts)
    return list(packet_events(PacketImport(file, "stdin")))


def flows(events: list[FeedEvent]) -> list[tuple[int, Outcome, bool]]:
    return [
        (seen.number, seen.event.outcome, seen.waits)
        for seen in events
        if isinstance(seen.event, Flow)
    ]


def test_a_request_without_a_response_is_seen_once_and_again_with_its_response() -> None:
    talk = Talk().open()
    talk.write(0, request(1))
    asked, talk.packets = talk.packets, []
    talk.rpcs(1, first=2)
    events = watched(asked, [], [], talk.packets[1:])
    assert flows(events) == [
        (2, Outcome.PENDING, True),
        (2, Outcome.PENDING, False),  # its response was not seen when the file ended
    ]
    first = next(seen.event for seen in events if isinstance(seen.event, Flow))
    assert first.problems == [UNANSWERED]


def test_a_long_poll_keeps_its_number() -> None:
    talk = Talk().open().write(0, request(1))
    asked, talk.packets = talk.packets, []
    talk.write(1, bytes.fromhex("0000000c 00000001") + bytes(8)).close()
    assert flows(watched(asked, [], [], talk.packets)) == [
        (2, Outcome.PENDING, True),
        (2, Outcome.ANSWERED, False),
    ]


def test_a_response_within_the_moment_is_seen_once() -> None:
    events = watched(Talk().open().rpcs(3).packets, [], [])
    assert flows(events) == [(number, Outcome.ANSWERED, False) for number in (2, 3, 4)]


@pytest.mark.parametrize("later", [0, 1])
def test_bytes_that_were_acknowledged_and_are_missing_hold_up_nothing_for_long(
    later: int,
) -> None:
    """Sixty-four packets may take hours on a connection that is quiet."""
    talk = Talk().open().rpcs(2)
    lost = talk.packets.pop(5)  # of the second RPC, its request
    assert request(2) in lost.data
    talk.rpcs(1, first=3)
    file: Any = growing(talk.packets, *[[]] * later)
    events = list(PacketImport(file, "stdin").live_events())
    last_moment = len(events) - events[::-1].index(None)
    kinds = [event.kind for event in events[:last_moment] if isinstance(event, Notice)]
    assert (NoticeKind.NOT_CAPTURED in kinds) == (later == 1)


def test_a_connection_that_began_before_the_packets_is_told_at_its_first_request() -> None:
    talk = Talk().rpcs(3)
    part = request(1)[:9]
    cut = Talk(sequences=[1000 - len(part), 9000])
    cut.write(0, part)
    events = watched([*cut.packets, *talk.packets])
    texts = [seen.event.text for seen in events if isinstance(seen.event, Notice)]
    assert texts[0] == (
        "the connection began before the packets: 9 bytes up to its first request are passed over"
    )
    assert len(flows(events)) == 3
