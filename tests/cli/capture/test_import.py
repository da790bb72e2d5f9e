"""`kwire capture import` accounts for all of a file of packets."""

import io
import os
import signal
import threading
import zlib
from pathlib import Path
from typing import Any

import pytest

from kwire.capture import CaptureFile, CaptureRecord, RecordEncoder
from tests.support.cli.command import Command
from tests.support.paths import FIXTURES
from tests.support.proxy.capture.packets import Sent, Talk, base, enhanced, interface, pcap, section

CASES = FIXTURES / "packets"

WHOLE = {
    "01-base.pcap": 5,
    "12-ipv4-228.pcap": 5,
    "14-gz.pcap.gz": 5,
    "15-ng-two-if.pcapng": 5,
    "17-ng-two-sections.pcapng": 10,
    "19-ng-spb.pcapng": 5,
    "21-tso-zero-len.pcap": 5,
    "25-midstream.pcap": 4,
    "34-vxlan.pcap": 5,
    "35-tls.pcap": 0,
    "36-seqwrap.pcap": 5,
    "38-port-reuse-nosyn.pcap": 10,
    "39-nodeport-nosyn.pcap": 5,
}
"""Files in which nothing is missing, and how many RPCs they have."""


def rpcs(kwire: Command, capture: Path) -> tuple[int, str, str]:
    """Return the number of RPCs that a capture shows, its lines, and what is said at their end."""
    shown = kwire("capture", "cat", str(capture))
    assert shown.code == 0
    return int(shown.err.split(" RPCs")[0].strip()), shown.out, shown.err


@pytest.mark.parametrize("name", WHOLE)
def test_a_file_that_is_whole_has_no_losses(kwire: Command, tmp_path: Path, name: str) -> None:
    out = tmp_path / "out.avro"
    run = kwire("capture", "import", str(CASES / name), "-o", str(out))
    assert (run.code, run.err) == (0, "")
    count, lines, told = rpcs(kwire, out)
    assert (count, "with problems" in told) == (WHOLE[name], False)
    assert "no response" not in lines
    assert lines.count("10.9.0.2:36333" if "nodeport" in name else "10.9.0.2:9092") > 0


LOSSES = {
    "27-lost-one-request.pcap": (199, "missing: 36 bytes that are not in the file", "not captured"),
    "29-snaplen96.pcap": (200, "cut: 16,200 bytes at the ends of packets", "are not in the file"),
}


@pytest.mark.parametrize(("name", "values"), LOSSES.items(), ids=list(LOSSES))
def test_what_is_missing_is_a_failure_that_says_so(
    kwire: Command, tmp_path: Path, name: str, values: tuple[int, str, str]
) -> None:
    count, loss, notice = values
    out = tmp_path / "out.avro"
    run = kwire("capture", "import", str(CASES / name), "-o", str(out))
    assert run.code == 1
    assert run.err == f"Error: not all is in the capture: {CASES / name}, {loss}\n"
    shown, lines, _ = rpcs(kwire, out)
    assert (shown, "no response" in lines, notice in lines) == (count, False, True)


def test_damage_and_other_files_are_told_and_leave_nothing(kwire: Command, tmp_path: Path) -> None:
    for name, text in (
        ("32-damaged-len.pcap", "byte 24: a packet of 2147483647 bytes; what follows is not read"),
        ("42-text.pcap", "neither pcap nor pcapng: it begins with b'tcpd'"),
    ):
        run = kwire("capture", "import", str(CASES / name), "-o", str(tmp_path / "out.avro"))
        assert run.code == 1
        assert text in run.out + run.err
        assert not list(tmp_path.iterdir())


def test_the_account_has_every_packet_and_its_reason(kwire: Command, tmp_path: Path) -> None:
    tls = Talk(node=("10.9.0.2", 9093)).open().write(0, b"\x16\x03\x01" + bytes(97)).close()
    open_ended = Talk(client=("10.9.0.1", 40002)).rpcs(2).write(0, b"\0\0\0\x20")
    udp = Sent(1.0, b"\x45" + bytes(8) + b"\x11" + bytes(18))
    file = tmp_path / "all.pcap"
    packets = [*base()[:8], *base()[9:], *tls.packets, *open_ended.packets, udp]
    file.write_bytes(pcap(packets)[:-7])
    run = kwire("capture", "import", str(file), "-o", str(tmp_path / "out.avro"))
    assert run.out.splitlines()[1:] == [
        "",
        str(file),
        "  packets       27, 1,616 bytes",
        "  Kafka         2 connections, 436 bytes",
        "  TLS           1 connection, 100 bytes",
        "  unknown       1 response not in the file",
        "  missing       30 bytes that are not in the file",
        "  broken off    byte 2088: the file ends within a packet: 21 of 28 bytes are there",
    ]
    assert run.code == 1


def test_packets_are_read_from_a_pipe(kwire: Command, tmp_path: Path) -> None:
    data, out = (CASES / "01-base.pcap").read_bytes(), tmp_path / "out.avro"
    run = kwire("capture", "import", "-", "-o", str(out), stdin=data)
    assert (run.code, run.out.splitlines()[:3]) == (0, [f"7 events written to {out}", "", "stdin"])
    assert rpcs(kwire, out)[0] == 5
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    writer = threading.Thread(target=fifo.write_bytes, args=(data,))
    writer.start()
    run = kwire("capture", "import", str(fifo), "-o", str(tmp_path / "second.avro"))
    writer.join()
    assert run.code == 0


class _Pipe(io.BytesIO):
    """A pipe that goes on: a signal comes when somebody waits for more."""

    def __init__(self, data: bytes, number: signal.Signals) -> None:
        super().__init__(data)
        self._number = number

    def read(self, size: int | None = -1) -> bytes:
        data = super().read(size)
        if len(data) < (size or 0):
            signal.raise_signal(self._number)
        return data


@pytest.mark.parametrize(
    ("form", "found"), [("whole", 5), ("within a packet", 3), ("gzip", 5), ("nothing", 0)]
)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_what_was_read_until_ctrl_c_is_written(
    kwire: Command, tmp_path: Path, form: str, found: int, number: signal.Signals
) -> None:
    data, out = (CASES / "01-base.pcap").read_bytes(), tmp_path / "out.avro"
    packer = zlib.compressobj(wbits=31)
    gzipped = packer.compress(data) + packer.flush(zlib.Z_FULL_FLUSH)  # without its end
    forms = {"whole": data, "within a packet": data[:1000], "gzip": gzipped, "nothing": b""}
    pipe = _Pipe(forms[form], number)
    run = kwire("capture", "import", "-", "other.pcap", "-o", str(out), stdin=pipe)
    assert run.code == 130
    assert list(tmp_path.iterdir()) == ([out] if found else [])
    if found:
        text = f"Stopped: {out} has what was read until then; not read: other.pcap.\n"
        assert run.err == text
        assert run.out.splitlines()[0].endswith(f" events written to {out}")
        assert "broken off" not in run.out
        assert rpcs(kwire, out)[0] == found


def test_a_signal_between_two_packets_ends_the_import_behind_them(
    kwire: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encode, out = RecordEncoder.encode, tmp_path / "out.avro"
    signals = [signal.SIGINT]

    def interrupted(encoder: RecordEncoder, record: CaptureRecord) -> bytes:
        while signals:
            signal.raise_signal(signals.pop())
        return encode(encoder, record)

    monkeypatch.setattr(RecordEncoder, "encode", interrupted)
    arguments = ("capture", "import", str(CASES / "01-base.pcap"), "-o", str(out))
    assert kwire(*arguments).code == 130
    assert 0 <= rpcs(kwire, out)[0] < 5
    signals += [signal.SIGINT, signal.SIGINT]  # the second one is impatient
    out.unlink()
    assert kwire(*arguments).code == 130
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("port", ["0", "65536", "-1"])
def test_a_port_that_no_node_has_is_wrong_usage(kwire: Command, tmp_path: Path, port: str) -> None:
    file, out = str(CASES / "01-base.pcap"), str(tmp_path / "out.avro")
    assert kwire("capture", "import", file, "-o", out, "--node-port", port).code == 2


def test_a_file_that_grows_is_read_up_to_its_last_whole_packet(
    kwire: Command, tmp_path: Path
) -> None:
    file, out = tmp_path / "grows.pcap", tmp_path / "out.avro"
    file.write_bytes((CASES / "01-base.pcap").read_bytes()[:1000])
    run = kwire("capture", "import", str(file), "-o", str(out))
    assert run.code == 1
    assert "broken off: byte " in run.err
    assert "the file ends within a packet" in run.err
    assert rpcs(kwire, out)[0] == 3


TIMES = [-(10**18), -1, 0, 1 << 32, 253_402_300_799, 253_402_300_800, (1 << 63) // 10**6 - 1]


def test_no_time_of_a_record_ends_a_command(kwire: Command, tmp_path: Path) -> None:
    """Whoever made the capture: one such was made of a file with two clocks."""
    path = tmp_path / "times.avro"
    frame = bytes.fromhex("0012 0000 00000007 0001 6b")
    asked = {"kind": "REQUEST", "api_key": 18, "api_version": 0, "frame": frame, "size": 11}
    told = {"kind": "NOTICE", "notice": "OPENED", "text": "opened"}
    file, encoder = CaptureFile(path), RecordEncoder()
    for number, at in enumerate(TIMES * 2):
        values: dict[str, Any] = asked if number % 2 else told
        values |= {"connection": number + 1, "client": "a:1", "upstream": "b:2", "event": number}
        at_us = max(at * 10**6, -(1 << 63))
        file.write(
            encoder.encode(CaptureRecord(capture="c", at_us=at_us, monotonic_ns=0, **values))
        )
    file.close()
    for arguments in (
        ("capture", "cat", str(path)),
        ("capture", "cat", "--json", str(path)),
        ("capture", "cat", "--from", "+1s", "--to", "-1s", str(path)),
        ("capture", "info", str(path)),
        ("capture", "info", "--json", str(path)),
        ("proxy", "-r", str(path)),
        ("capture", "split", str(path), "--into", str(tmp_path / "parts"), "--seconds", "1"),
        ("capture", "merge", str(path), "-o", str(tmp_path / "merged.avro")),
        ("capture", "export", str(path), "-o", str(tmp_path / "out.pcapng")),
        ("capture", "export", str(path), "-o", str(tmp_path / "out.jsonl")),
        ("capture", "anonymize", str(path), "-o", str(tmp_path / "hidden.avro")),
    ):
        run = kwire(*arguments)
        assert "failed with" not in run.err, arguments
        assert run.code == 0 or "no event to write" in run.err, (arguments, run.err)


def test_packets_of_any_time_make_a_capture_that_can_be_shown(
    kwire: Command, tmp_path: Path
) -> None:
    for number, offset in enumerate((0, 1 << 32, 253_402_300_800, (1 << 63) - 1, -(1 << 63))):
        file, out = tmp_path / f"{number}.pcapng", tmp_path / f"{number}.avro"
        packets = b"".join(enhanced(Sent(sent.at - 1.7e9, sent.data)) for sent in base())
        file.write_bytes(section() + interface(offset=offset) + packets)
        assert kwire("capture", "import", str(file), "-o", str(out)).code == 0
        assert rpcs(kwire, out)[0] == 5
        again = tmp_path / f"{number}-again.pcapng"
        assert kwire("capture", "export", str(out), "-o", str(again)).code == 0
        back = tmp_path / f"{number}-back.avro"
        assert kwire("capture", "import", str(again), "-o", str(back)).code == 0
        assert rpcs(kwire, back)[0] == 5
