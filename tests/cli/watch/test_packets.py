"""`kwire watch -`: packets by a pipe, as lines and on the screen."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any, cast

import pytest

from kwire.cli.watch.packets import PacketThread
from kwire.messages.a52_vote import VoteRequest, VoteResponse
from kwire.proxy.feed.source import FeedEvent
from tests.support.cli.command import KWIRE, Command
from tests.support.cli.terminal import ended, session
from tests.support.cli.watch.screen import Screen, handled
from tests.support.paths import FIXTURES
from tests.support.proxy.capture.packets import Talk, pcap, request
from tests.support.proxy.capture.tls_talk import TlsTalk
from tests.support.proxy.flows.decoded_flows import flow

BASE = (FIXTURES / "packets" / "01-base.pcap").read_bytes()
HEAD = len(pcap([]))


def test_packets_become_lines_and_their_balance(kwire: Command) -> None:
    run = kwire("watch", "-", stdin=BASE)
    assert run.code == 0
    assert [line.split()[5] for line in run.out.splitlines()[1:6]] == ["Metadata"] * 5
    assert "5 RPCs of 1 APIs on 1 connections" in run.err
    assert run.err.splitlines()[-3:] == [
        "stdin",
        "  packets       15, 1,605 bytes",
        "  Kafka         1 connection, 795 bytes",
    ]


def test_missing_packets_are_told_and_a_failure(kwire: Command) -> None:
    run = kwire("watch", "-", "--json", stdin=BASE[:1000])
    assert run.code == 1
    assert "not all was seen: stdin, broken off: byte 954: the file ends" in run.error
    empty = kwire("watch", "-", stdin=b"")
    assert empty.error == "stdin, byte 0: neither pcap nor pcapng: it is empty"


def test_tls_is_decrypted_live_and_into_a_capture(kwire: Command, tmp_path: Path) -> None:
    talked = TlsTalk(tmp_path).run("1.3 AES-128", 1, 2)
    packets, out = pcap(talked.talk().packets), tmp_path / "out.avro"
    keys = ("--tls-keys", str(talked.keys))
    run = kwire("watch", "-", *keys, stdin=packets)
    assert (run.code, run.out.count("Metadata")) == (0, 2)
    run = kwire("capture", "import", "-", "-o", str(out), *keys, stdin=packets)
    assert (run.code, kwire("capture", "cat", str(out)).out.count("Metadata")) == (0, 2)
    secret = talked.keys.read_text().split()[-1]
    assert secret not in run.out + run.err
    run = kwire("watch", "-", "--tls-keys", "gone.log", stdin=packets)
    assert run.code == 2
    assert "cannot read gone.log: No such file or directory; if nothing has" in run.err
    run = kwire("watch", "-", "--tls-keys", ".", stdin=packets)
    assert run.code == 2
    assert "cannot read .: Is a directory.\n" in run.err
    talked.keys.write_text("")
    run = kwire("watch", "-", *keys, stdin=packets)
    assert (run.code, run.error) == (1, "not all was seen: stdin, encrypted: 1 connection of TLS")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("-", "--web", "8080"), "--web and --token are for a proxy's feed, not for packets."),
        (
            ("--node-port", "9092"),
            "--node-port and --tls-keys are for packets: `kwire watch -` reads them.",
        ),
    ],
)
def test_options_of_the_other_kind_are_refused(
    kwire: Command, arguments: tuple[str, ...], sentence: str
) -> None:
    run = kwire("watch", *arguments)
    assert (run.code, sentence in run.err.replace("\n", " ")) == (2, True)


@contextmanager
def watching() -> Iterator[Popen[bytes]]:
    with Popen([KWIRE, "watch", "-"], stdin=PIPE, stdout=PIPE, stderr=PIPE, bufsize=0) as process:
        try:
            yield process
        finally:
            process.kill()


def test_lines_come_while_the_pipe_is_open_and_ctrl_c_ends_them() -> None:
    talk = Talk().open().rpcs(1)
    with watching() as process:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        process.stdin.write(pcap(talk.packets))
        lines = [process.stdout.readline().split() for _ in range(2)]
        began = time.monotonic()
        talk.packets = []
        process.stdin.write(pcap(talk.write(0, request(2)).packets)[HEAD:])
        assert b"no response yet" in process.stdout.readline() + process.stdout.readline()
        assert time.monotonic() - began < 4
        process.send_signal(signal.SIGINT)
        told = process.stderr.read()
    assert [line[5] for line in lines] == [b"opened:", b"Metadata"]
    assert (process.returncode, b"1 response not in the file" in told) == (130, True)
    assert b"2 RPCs of 1 APIs" in told  # the one that waited counts once


def test_a_reader_that_has_gone_ends_it() -> None:
    line = f"{KWIRE} watch - | head -n 1"
    shell = f"set -o pipefail; cat {FIXTURES / 'packets' / '36-seqwrap.pcap'} | {line}"
    run = subprocess.run(["bash", "-c", shell], capture_output=True, timeout=60, check=False)
    assert (run.stdout.count(b"\n"), b"Traceback" in run.stderr) == (1, False)


async def test_the_screen_shows_flows_and_says_that_packets_cannot_be_held(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from kwire.cli.watch.screen.packets import REFUSAL, PacketsApp

    path = tmp_path / "packets.pcap"
    path.write_bytes(BASE)
    with path.open() as file:
        monkeypatch.setattr(sys, "stdin", file)
        app = PacketsApp(PacketThread(frozenset()), view="~api Metadata")
        async with app.run_test(size=(120, 30)) as pilot:
            with handled(pilot):
                shown = Screen(app, pilot, cast(Any, None))
                await shown.until(lambda: "15 packets   7 events kept" in shown.text("#status"))
                await shown.until(lambda: "ended" in shown.text("#status"))
                assert len(app.flows.visible) == 5
                for key in ("h", "e", "u", "r", "R", "d", "x"):
                    await pilot.press(key)
                    await shown.until(lambda: shown.notifications == [REFUSAL])
                    app.clear_notifications()
                await pilot.press("slash", *"xhe")
                assert shown.filter.value == "~api Metadataxhe"


async def test_of_more_packets_than_a_screen_can_show_it_shows_a_sample_and_all_errors(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from kwire.cli.watch.screen.packets import PacketsApp

    errors = range(0, 3000, 100)
    flows = [
        flow(VoteRequest(), VoteResponse(error_code=41 * (n in errors)), 2).flow
        for n in range(3000)
    ]
    events = [FeedEvent(number, event) for number, event in enumerate(flows)]
    monkeypatch.setattr(PacketThread, "take", lambda self: [events.pop(0) for _ in events[:500]])
    monkeypatch.setattr(PacketThread, "start", lambda self: None)
    with (FIXTURES / "packets" / "01-base.pcap").open() as file:
        monkeypatch.setattr(sys, "stdin", file)
        app = PacketsApp(PacketThread(frozenset()), view="~err *")
        async with app.run_test(size=(80, 24)) as pilot:
            with handled(pilot):
                shown = Screen(app, pilot, cast(Any, None))
                await shown.until(lambda: not events and "not shown" in shown.text("#status"))
                assert [entry.number for entry in app.flows.visible] == list(errors)
                assert 1000 < len(app.flows) < 1100


def test_keys_come_from_the_terminal_while_packets_come_from_the_pipe() -> None:
    pipe, start = os.pipe()
    with session("watch", "-", term="xterm", stdin=pipe) as (terminal, pid):
        os.close(pipe)
        os.write(start, BASE)
        terminal.shows("events kept")
        terminal.type("q")
        terminal.read_on()
        assert ended(pid) == 0
    os.close(start)


def test_without_a_terminal_lines_are_advised(monkeypatch: pytest.MonkeyPatch) -> None:
    code = "from kwire.cli.watch.packets import take_keys_from_terminal as f; f()"
    run = subprocess.run(
        [sys.executable, "-c", code], start_new_session=True, stderr=PIPE, check=False
    )
    assert b"there is no terminal to read keys from: give --plain" in run.stderr
