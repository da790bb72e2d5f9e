"""Viewers on loopback see what passes, ask, and command; nothing they do or fail to do hurts it."""

import asyncio
import hmac
import random
import socket

import msgspec
import pytest

from kwire.capture import CaptureRecord
from kwire.errors import AnswerLost, InvalidValue
from kwire.messages.a52_vote import VoteRequest
from kwire.net.address import Address
from kwire.proxy import CannotListen, DecodedFlow, Flow, Notice, NoticeKind
from kwire.proxy.feed import receiver, sender, viewers
from kwire.proxy.feed.datagrams import (
    LIMIT,
    Challenge,
    FromProxy,
    Release,
    Seen,
    ShownEvent,
    Stamp,
    Status,
    Subscribe,
    decode_from_proxy,
    decode_from_viewer,
    encode,
    encode_shown_event,
)
from kwire.proxy.feed.receiver import Receiver
from kwire.proxy.feed.sender import Feed
from kwire.proxy.feed.sessions import Session
from kwire.proxy.feed.source import CommandRefused
from tests.support.eventually import eventually
from tests.support.proxy.data_path.proxied_node import GRANTED, VOTE
from tests.support.proxy.feed.lossy_path import lossy
from tests.support.proxy.feed.voting_traffic import HERE, TOKEN, ShownEvents, traffic, viewer
from tests.support.seed import SEED


async def test_every_viewer_sees_every_flow_decoded() -> None:
    first, second = ShownEvents(), ShownEvents()
    async with traffic() as run:
        async with viewer(run.feed.address, first) as one, viewer(run.feed.address, second) as two:
            await eventually(lambda: one.status is not None and two.status is not None)
            await run.vote(3)
            await eventually(lambda: len(first.flows) == len(second.flows) == 3)
            assert one.status
            await eventually(lambda: one.status is not None and one.status.viewers == 2)
            assert one.lost == two.lost == 0
        decoded = DecodedFlow(first.flows[0].event)  # type: ignore[arg-type]
    assert decoded.request_as(VoteRequest) == VoteRequest()
    assert decoded.flow.connection.node_id == 3000
    notices = [one.event.kind for one in first if isinstance(one.event, Notice)]
    assert notices == [NoticeKind.OPENED, NoticeKind.CLOSED]
    assert [one.number for one in first] == [one.number for one in second]


async def test_a_viewer_that_comes_late_is_shown_what_was_before() -> None:
    shown, few = ShownEvents(), ShownEvents()
    async with traffic() as run:
        await run.vote(20)
        async with viewer(run.feed.address, shown), viewer(run.feed.address, few, backlog=5):
            await eventually(lambda: len(shown) == 22 and len(few) == 5)
    assert [event.number for event in shown] == list(range(22))
    assert [one.number for one in few] == list(range(17, 22))


async def test_what_was_lost_on_the_way_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sender, "ROOM", 0)  # each event in a datagram of its own
    shown = ShownEvents()
    keep = [True, False, True, False, False, True]
    async with traffic() as run, lossy(run.feed.address, keep) as way, viewer(way, shown) as one:
        await eventually(lambda: one.status is not None)
        await run.vote(8)
        await eventually(lambda: len(shown) == 7)
        assert one.lost == 3


async def test_a_datagram_brings_many_events_and_is_never_too_long() -> None:
    shown = ShownEvents()
    sizes: list[int] = []
    async with traffic() as run, lossy(run.feed.address, [], sizes) as way:
        await run.vote(100)
        async with viewer(way, shown):
            await eventually(lambda: len(shown) == 102)
    assert [event.number for event in shown] == list(range(102))
    assert len(sizes) < 60
    assert max(sizes) <= LIMIT


async def test_the_last_one_lost_is_told_by_the_status(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(receiver, "RENEW", 0.05)
    async with (
        traffic() as run,
        lossy(run.feed.address, [False] * 10) as way,
        viewer(way, ShownEvents()) as one,
    ):
        await eventually(lambda: one.status is not None)
        await run.vote(8)
        await eventually(lambda: one.lost == 10)


async def test_what_finds_no_room_is_lost_to_viewers_not_to_the_proxy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shown = ShownEvents()
    async with traffic() as run, viewer(run.feed.address, shown) as one:
        await eventually(lambda: one.status is not None)
        with monkeypatch.context() as full:
            full.setattr(sender, "QUEUE_LIMIT", 0)
            await run.vote(4)
        await run.vote(1)
        await eventually(lambda: one.lost > 0 and one.lost + len(shown) >= 6)


async def test_a_viewer_that_is_silent_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(viewers, "LEASE", 0.1)
    monkeypatch.setattr(sender, "LEASE", 0.1)
    monkeypatch.setattr(receiver, "RENEW", 3600.0)
    async with traffic() as run, viewer(run.feed.address, ShownEvents()) as one:
        await eventually(lambda: one.status is not None)
        assert len(run.feed._viewers) == 1

        async def is_forgotten() -> bool:
            await run.vote()  # it looks when something is to be sent
            return len(run.feed._viewers) == 0

        await eventually(is_forgotten)


async def test_a_viewer_that_leaves_is_forgotten_and_one_may_outlive_the_proxy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(viewers, "LEASE", 0.5)
    monkeypatch.setattr(sender, "LEASE", 0.5)
    monkeypatch.setattr(receiver, "RENEW", 0.05)
    async with traffic() as run:
        async with viewer(run.feed.address, ShownEvents()) as one:
            await eventually(lambda: len(run.feed._viewers) == 1)
        await eventually(lambda: len(run.feed._viewers) == 0)
        address = run.feed.address
        shown = ShownEvents()
        staying = viewer(address, shown)
        await staying.__aenter__()
        await eventually(lambda: staying.status is not None)
    await eventually(lambda: staying.status is None)
    async with traffic(listen=address) as run:
        await eventually(lambda: staying.status is not None)
        await run.vote()
        await eventually(lambda: len(shown.flows) == 1)
        await staying.__aexit__(None, None, None)
    assert one.lost == staying.lost == 0


async def test_a_whole_flow_is_fetched_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sender, "PART_SIZE", 50)
    shown = ShownEvents()
    async with traffic() as run, viewer(run.feed.address, shown) as one:
        await eventually(lambda: one.status is not None)
        await run.vote()
        await eventually(lambda: len(shown.flows) == 1)
        whole = await one.complete_event(shown.flows[0].number)
        assert isinstance(whole, Flow)
        assert (whole.request_copy, whole.response_copy) == (VOTE[4:], GRANTED[4:])
        with pytest.raises(CommandRefused, match="does not keep that flow"):
            await one.complete_event(99)


async def test_garbage_is_ignored_and_nobody_is_sent_what_he_did_not_want() -> None:
    dice = random.Random(SEED)
    async with traffic() as run:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
            stranger.connect((run.feed.address.host, run.feed.address.port))
            stranger.settimeout(60)
            guessed = Stamp(bytes(16), b"guessed".ljust(24), 1, 0)
            good = encode(Subscribe(nonce=b"mine", backlog=1000), guessed, b"")
            for number in range(200):
                cut = good[: number % len(good)]
                stranger.send(bytes(dice.randbytes(number * 7)) if number % 2 else cut)
                await eventually(lambda sent=number + 1: run.feed.ignored == sent, pause=0)  # type: ignore[misc]
            await run.vote()
            stranger.send(good)
            answer = await asyncio.to_thread(stranger.recv, 65536)
            _, challenge = decode_from_proxy(answer, b"")
            assert challenge == Challenge(nonce=b"mine")
            assert len(answer) <= len(good)
            stranger.send(encode(Release(number=1, flow=0), guessed, b""))
            await eventually(lambda: run.feed.ignored == 201)
            stranger.setblocking(False)
            with pytest.raises(BlockingIOError):
                stranger.recv(65536)


async def test_a_command_that_fails_ends_neither_the_feed_nor_its_viewers(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object) -> None:
        raise RecursionError("a fault of ours")

    async with (
        traffic() as run,
        Receiver(run.feed.address, lambda _: None, timeout=0.1) as one,
    ):
        await eventually(lambda: one.status is not None)
        with monkeypatch.context() as broken:
            broken.setattr(run.feed._controls, "execute", fail)
            with pytest.raises(AnswerLost):
                await one.set_hold("~api Vote")
        assert "a viewer's SetHold is not answered" in caplog.text
        await one.set_hold(None)


async def test_a_viewer_without_the_token_sees_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(receiver, "REPEAT", 0.01)
    good, bad = ShownEvents(), ShownEvents()
    async with traffic(token=TOKEN) as run:
        address = run.feed.address
        guessing = Receiver(address, bad.append, token=b"guessed guessed guessed", timeout=0.2)
        async with viewer(address, good, token=TOKEN), guessing as one:
            await run.vote()
            await eventually(lambda: len(good.flows) == 1)
            assert one.status is None
            with pytest.raises(AnswerLost, match="no answer from 127"):
                await one.set_hold("~api Vote")
    assert bad == []


def sealed(body: bytes) -> bytes:
    seal = hmac.digest(b"", b"kwf\x03" + bytes(56) + body, "sha256")[:16]
    return b"kwf\x03" + seal + bytes(56) + body


async def test_a_viewer_survives_whatever_the_proxy_sends() -> None:
    record = CaptureRecord(
        capture="c", connection=1, client="a", upstream="b", kind="?", event=0, at_us=1 << 62,
        monotonic_ns=0,
    )  # fmt: skip
    wrong = [
        b"",
        b"\xff" * 5000,
        b"kwf\x04" + bytes(90),
        sealed(b"\xc1"),
        sealed(b"\xdd\xff\xff\xff\xff"),
        sealed(b"\x81\xa1x" + b"\x91" * 8000),
    ]
    unreadable: list[FromProxy] = [
        Seen(sequence=1, events=(msgspec.Raw(b"\x01"),)),
        Seen(sequence=2, events=(encode_shown_event(ShownEvent(records=())),)),
        Seen(sequence=3, events=(encode_shown_event(ShownEvent(records=(record,))),)),
    ]
    shown = ShownEvents()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as proxy:
        proxy.bind(("127.0.0.1", 0))
        async with viewer(Address(*proxy.getsockname()), shown) as one:
            data, client = await asyncio.to_thread(proxy.recvfrom, 65536)
            _, subscribe = decode_from_viewer(data, b"")
            assert isinstance(subscribe, Subscribe)
            for data in wrong:
                proxy.sendto(data, client)
            session = Session(b"F" * 16, b"S" * 24)
            challenge = Stamp(session.feed, session.id, 0, (1 << 64) - 1)  # its clock ends now
            proxy.sendto(encode(Challenge(nonce=subscribe.nonce), challenge, b""), client)
            now = challenge.time / 1000
            status = Status(feed="f", sequence=3, seconds=10.0)
            for message in [*unreadable, status]:
                proxy.sendto(encode(message, session.stamp(now), b""), client)
            await eventually(lambda: one.status is not None)
            assert one.unreadable == len(wrong) + len(unreadable)
            assert one.problem == "a record with a time out of range"
    assert shown == []


def test_other_machines_need_a_token() -> None:
    with pytest.raises(InvalidValue, match=r"a feed at 0\.0\.0\.0:9900 needs a token"):
        Feed(Address("0.0.0.0", 9900))
    with pytest.raises(InvalidValue, match="a token of 1 bytes, which can be guessed"):
        Feed(Address("0.0.0.0", 9900), token=b"x")
    with pytest.raises(InvalidValue, match="a token of 1 bytes, which can be guessed"):
        Receiver(Address("127.0.0.1", 9900), lambda _: None, token=b"x")
    Feed(Address("0.0.0.0", 9900), token=TOKEN)
    Feed(Address("::1", 9900))


async def test_a_port_that_is_taken_is_named() -> None:
    async with Feed(HERE) as feed:
        with pytest.raises(CannotListen, match=r"no feed at .*: Address already in use"):
            await Feed(feed.address).__aenter__()
