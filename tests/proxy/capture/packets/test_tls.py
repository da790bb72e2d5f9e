"""TLS of OpenSSL with its key log, as packets: what Wireshark decrypts of it, and RPCs."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from kwire.proxy import Flow, Notice, NoticeKind, Outcome
from kwire.proxy.capture.packets import tls
from kwire.proxy.capture.packets.conversation import Conversation
from kwire.proxy.capture.packets.key_log import KeyLog
from kwire.proxy.capture.packets.tls_handshake import TlsHandshake
from kwire.proxy.capture.pcap_import import PacketImport
from tests.support.dissector.tshark import Tshark
from tests.support.proxy.capture.growing import Growing
from tests.support.proxy.capture.packets import Sent, Talk, pcap, request, response
from tests.support.proxy.capture.tls_talk import KEY_UPDATE, SUITES, TlsTalk

READ = [suite for suite in SUITES if "CBC" not in suite]
HEAD = len(pcap([]))


@pytest.fixture(scope="module", params=READ)
def talked(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> TlsTalk:
    """Five RPCs, with changes of the keys where there are any."""
    suite: str = request.param
    update = [KEY_UPDATE] if suite.startswith("1.3") else []
    steps: list[int | bytes] = [1, 2, *update, 3, *update, 4, 5]
    return TlsTalk(tmp_path_factory.mktemp("tls")).run(suite, *steps)


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> TlsTalk:
    return TlsTalk(tmp_path_factory.mktemp("tls")).run("1.3 AES-256", *range(1, 6))


class Decrypted:
    """The events of packets, with a key log."""

    def __init__(self, packets: list[Sent] | Growing, keys: KeyLog | Path | None) -> None:
        key_log = KeyLog(keys) if isinstance(keys, Path) else keys
        file: Any = BytesIO(pcap(packets)) if isinstance(packets, list) else packets
        reading = PacketImport(file, "x", frozenset(), key_log)
        self.events = list(reading.live_events())
        self.losses = {item.name: item.text for item in reading.balance.items if item.lost}
        self.items = {item.name: item.text for item in reading.balance.items}

    @property
    def answered(self) -> list[int]:
        flows = [event for event in self.events if isinstance(event, Flow)]
        return [flow.correlation_id for flow in flows if flow.outcome is Outcome.ANSWERED]

    def texts(self, kind: NoticeKind = NoticeKind.UNREADABLE) -> list[str]:
        notices = [event for event in self.events if isinstance(event, Notice)]
        return [notice.text for notice in notices if notice.kind is kind]


@pytest.mark.parametrize("mss", [1448, 7])
def test_every_rpc_is_read_however_records_are_divided(talked: TlsTalk, mss: int) -> None:
    found = Decrypted(talked.talk(mss).packets, talked.keys)
    assert (found.answered, found.texts(), found.losses) == ([1, 2, 3, 4, 5], [], {})


def test_the_bytes_are_those_that_wireshark_decrypts(
    talked: TlsTalk, tshark: Tshark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "tls.pcap"
    path.write_bytes(pcap(talked.talk().packets))
    options = ("-o", f"tls.keylog_file:{talked.keys}", "-d", "tcp.port==9092,tls")
    printed = tshark.run(path, *options, "-q", "-z", "follow,tls,raw,0")
    lines = [line for line in printed.splitlines() if line.strip("\t").isalnum()]
    theirs = [
        b"".join(bytes.fromhex(line) for line in lines if line.startswith("\t") == bool(side))
        for side in (0, 1)
    ]
    ours = [b"", b""]

    def data(_: Conversation, side: int, data: bytes, at: float) -> None:
        ours[side] += data

    monkeypatch.setattr(Conversation, "data", data)
    Decrypted(talked.talk().packets, talked.keys)
    assert sorted(ours) == sorted(theirs)
    assert ours[0] == b"".join(map(request, range(1, 6)))
    assert ours[1] == b"".join(map(response, range(1, 6)))


def application_packets(talk: Talk) -> Iterator[int]:
    """The places of packets behind the handshake: of records of application data, whole."""
    for place, sent in enumerate(talk.packets):
        if sent.data[40:43] == b"\x17\x03\x03" and len(sent.data) < 200:
            yield place


def test_behind_a_lost_packet_the_later_rpcs_are_read(talked: TlsTalk) -> None:
    talk = talked.talk()
    places = list(application_packets(talk))[3:-3]
    assert places
    for place in places:
        packets = [*talk.packets[:place], *talk.packets[place + 1 :]]
        found = Decrypted(packets, talked.keys)
        assert found.answered[-1] == 5, place
        assert found.texts(NoticeKind.NOT_CAPTURED), place
        assert found.texts() == []


def test_a_damaged_record_is_a_gap_and_does_not_end_reading(one: TlsTalk) -> None:
    talk = one.talk()
    place = list(application_packets(talk))[-5]
    sent = talk.packets[place]
    talk.packets[place] = Sent(sent.at, sent.data[:-1] + bytes([sent.data[-1] ^ 1]))
    found = Decrypted(talk.packets, one.keys)
    assert (found.answered[-1], len(found.answered)) == (5, 4)
    assert found.texts() == []


def test_a_connection_without_a_key_log_says_once_what_to_do(one: TlsTalk) -> None:
    found = Decrypted(one.talk().packets, None)
    assert [text[:34] for text in found.texts()] == ["TLS: its keys are needed to read i"]
    assert (found.losses, found.items["TLS"][:13]) == ({}, "1 connection,")


def test_a_connection_that_was_joined_says_that_no_key_opens_it(one: TlsTalk) -> None:
    talk = one.talk()
    joined = [sent for sent in talk.packets if sent.at > talk.packets[12].at]
    for packets in (joined, joined[1:], joined[2:]):
        found = Decrypted(packets, one.keys)
        assert found.texts() == [tls._JOINED]
        assert found.losses == {"encrypted": "1 connection of TLS"}


def test_the_keys_of_others_are_not_taken_and_told(one: TlsTalk, tmp_path: Path) -> None:
    keys = tmp_path / "keys.log"
    lines = one.keys.read_text().splitlines()
    random = lines[-1].split()[1]
    other = "\n".join(lines).replace(random, random[::-1])
    keys.write_text(f"# of another\n\n{other}\nCLIENT_RANDOM zz\n{'x' * 3_000_000}\n\x00\xff a b\n")
    found = Decrypted(one.talk().packets, keys)
    assert found.texts() == [
        f"TLS without its keys: {keys} has the keys of 1 other connection. {tls._WRITTEN}"
    ]
    keys.write_bytes(b"\xff" * 100)
    assert "has no keys" in Decrypted(one.talk().packets, keys).texts()[0]


@pytest.mark.parametrize("talked", ["1.3 AES-256", "1.2 AES-128"], indirect=True)
def test_wrong_keys_are_told_once(talked: TlsTalk, tmp_path: Path) -> None:
    keys = tmp_path / "keys.log"
    lines = [line.rpartition(" ") for line in talked.keys.read_text().splitlines()]
    keys.write_text("".join(f"{head} {secret[::-1]}\n" for head, _, secret in lines))
    found = Decrypted(talked.talk().packets, keys)
    assert [text[:31] for text in found.texts()] == ["TLS that its keys do not open: "]
    assert found.answered == []


def test_a_suite_that_is_not_decrypted_is_named(tmp_path: Path) -> None:
    talked = TlsTalk(tmp_path).run("1.2 CBC", 1)
    found = Decrypted(talked.talk().packets, talked.keys)
    assert found.texts() == [
        "TLS with ECDHE-ECDSA-AES128-SHA256: only AES-GCM and ChaCha20 are decrypted"
    ]


@pytest.mark.parametrize("late", [1, tls.MOMENTS, tls.MOMENTS + 1])
def test_keys_are_waited_for_a_few_moments(one: TlsTalk, tmp_path: Path, late: int) -> None:
    keys = tmp_path / "keys.log"
    keys.touch()

    class Late(Growing):
        """The key log is written behind so many moments."""

        moments = 0

        def read(self, size: int) -> bytes | None:
            if (data := super().read(size)) is None:
                self.moments += 1
                if self.moments == late:
                    keys.write_bytes(one.keys.read_bytes())
            return data

    packets = pcap(one.talk().packets)
    found = Decrypted(Late([packets[:-300], *[b""] * 6, packets[-300:]]), keys)
    in_time = late <= tls.MOMENTS
    assert (found.answered, len(found.texts())) == ([1, 2, 3, 4, 5] if in_time else [], not in_time)


def test_what_waits_for_keys_is_bounded(
    one: TlsTalk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = tmp_path / "keys.log"
    keys.touch()
    monkeypatch.setattr("kwire.proxy.capture.packets.key_log.HELD_LIMIT", 1500)
    log = KeyLog(keys)
    reading = PacketImport(BytesIO(pcap(one.talk().packets)), "x", frozenset(), log)
    most = max(log.held.held for _ in reading.live_events())
    assert (most <= 1500, log.held.held) == (True, 0)


def test_a_refused_handshake_names_its_alert() -> None:
    hello = b"\x16\x03\x01\x00\x05\x01\x00\x00\x01\x00"
    talk = Talk().open().write(0, hello).write(1, b"\x15\x03\x03\x00\x02\x02\x28").close()
    found = Decrypted(talk.packets, None)
    assert found.texts(NoticeKind.HANDSHAKE_FAILED) == ["the node sent the alert handshake failure"]


def test_bytes_that_only_begin_like_tls_are_those_of_another_protocol() -> None:
    talk = Talk().open().write(0, b"\x16hello").write(1, b"\x17hello").close()
    (text,) = Decrypted(talk.packets, None).texts()
    assert text.startswith("a frame of 375940460 bytes")


@pytest.mark.parametrize("size", [0, 1, 33, 34, 40, 200])
def test_a_hello_that_is_cut_is_none(size: int) -> None:
    handshake = TlsHandshake()
    message = bytes([1, 0, size >> 8, size & 255]) + b"\xff" * size
    assert handshake.take(0, message + b"\x02") == b"\x02"
    assert handshake.client is None
    assert handshake.take(0, b"\x01\xff\xff\xff rest") == b""


def test_a_key_log_that_grows_or_is_written_anew_is_read_on(tmp_path: Path) -> None:
    path = tmp_path / "keys.log"
    path.touch()
    log, handshake = KeyLog(path), TlsHandshake(client_random=b"r" * 32, suite=0x009C)
    line = f"CLIENT_RANDOM {'72' * 32} {'61' * 48}\n"
    for text, found in ((line[:100], False), (line, True), (f"{line}{line}", True), ("", True)):
        path.write_text(text)
        assert (log.keys(handshake) is not None) == found
    other = TlsHandshake(client_random=b"s" * 32, suite=0x009C)
    assert log.keys(other) is None
    path.write_text(line.replace("72", "73"))
    assert log.keys(other) is not None


def test_a_key_log_keeps_the_latest_connections(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kwire.proxy.capture.packets.key_log.CONNECTIONS", 2)
    path = tmp_path / "keys.log"
    path.write_text("".join(f"CLIENT_RANDOM {n:064x} {'61' * 48}\n" for n in range(5)))
    log = KeyLog(path)
    known = [
        log.keys(TlsHandshake(client_random=n.to_bytes(32, "big"), suite=0x009C)) for n in range(5)
    ]
    assert [found is not None for found in known] == [False, False, False, True, True]
