"""`kwire capture export` and `import`: captures in the formats of other tools."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Self, cast

import typer

from kwire.cli.capture.files import CAPTURES, print_written
from kwire.cli.errors import INTERRUPTED, CommandFailed, WrongUsage
from kwire.cli.flows.options import MEANT, TimeRange, expression
from kwire.cli.options import argument, flag, option, reads_options, repeated
from kwire.operating_system import TERMINATION

if TYPE_CHECKING:
    from io import BufferedReader

    from kwire.capture import CaptureRecord
    from kwire.proxy.capture.packets.balance import Balance


@reads_options
def export(
    *,
    captures: list[Path] = CAPTURES,
    out: Path = option(
        "--out", "-o", default=..., metavar="FILE", help="FILE.pcapng or FILE.jsonl."
    ),
    view: str | None = MEANT,
    times: TimeRange,
) -> None:
    """Write captures as packets for Wireshark, or as JSON lines with the whole messages.

    The TCP connections around the frames are made up. Wireshark's own Kafka dissector knows little
    of controllers' traffic; `kwire dissector` prints one that reads all of it.

    \b
    kwire capture export quorum.avro --out quorum.pcapng
    kwire capture export quorum.avro --out votes.jsonl --view "~api Vote" --from +10s
    """
    if out.suffix not in (".pcapng", ".jsonl"):
        raise WrongUsage(f"{str(out)!r} is neither FILE.pcapng nor FILE.jsonl.")
    from kwire.cli.capture.reading import CaptureReading

    reading = CaptureReading(captures=captures, times=times, selected=expression(view))
    records = iter(reading.records())
    first = list(islice(records, 1))  # a capture that cannot be read leaves no file behind
    if out.suffix == ".pcapng":
        count, noun = _write_packets(chain(first, records), out, secrets=reading.shows_secrets)
    else:
        count, noun = _write_json(chain(first, records), out)
    typer.echo(f"{count} {noun} written to {out}")


@reads_options
def import_(
    packets: list[Path] = argument(
        metavar="FILE...",
        help="Files of tcpdump: pcap or pcapng, also gzip'ed; - for stdin.",
        allow_dash=True,
    ),
    out: Path = option("--out", "-o", default=..., metavar="FILE", help="The capture to write."),
    node_port: list[int] = repeated(
        metavar="PORT",
        min=1,
        max=65535,
        help="A port at which nodes listen; repeatable. By default the client is the side that"
        " sends the SYN, and without a SYN the side that sends requests.",
    ),
    show_secrets: bool = flag("--show-secrets", help="Keep passwords and tokens as they are."),
) -> None:
    """Make a capture of what tcpdump has written on a broker, and print what became of each packet.

    If packets were lost, cut or cannot be read, the capture has the rest, and the exit code is 1.
    After Ctrl-C it has what was read until then.

    \b
    tcpdump -i any -s 0 -B 65536 -w broker.pcap port 9092
    kwire capture import broker.pcap --out broker.avro --node-port 9092
    ssh broker tcpdump -i any -U -w - port 9092 | kwire capture import - --out broker.avro
    """
    from kwire.capture import CaptureFile, RecordEncoder
    from kwire.errors import KwireError

    file, encoder, count = CaptureFile(out, shows_secrets=show_secrets), RecordEncoder(), 0
    balances: list[tuple[str, Balance]] = []
    reading = _UntilCtrlC()
    try:
        with reading:
            ports = frozenset(node_port)
            for records in _imported(packets, ports, show_secrets, balances, reading):
                file.write(*map(encoder.encode, records))
                count += 1
        file.close()
    except (KwireError, OSError, KeyboardInterrupt):
        file.discard()
        if reading.stopped:  # before there was a packet
            raise KeyboardInterrupt from None
        raise
    if count:
        print_written(count, out)
    losses = [loss for name, balance in balances for loss in _print_balance(name, balance)]
    if reading.stopped:
        has = f"{out} has what was read until then" if count else f"{out} was not made"
        unread = ", ".join(map(str, packets[len(balances) :]))
        typer.echo(f"Stopped: {has}{unread and f'; not read: {unread}'}.", err=True)
        raise typer.Exit(INTERRUPTED)
    if not count:
        print_written(count, out)  # fails, behind the balance that says why nothing was written
    if losses:
        raise CommandFailed(f"not all is in the capture: {'; '.join(losses)}")


class _UntilCtrlC:
    """Reads files up to the first Ctrl-C or SIGTERM, at which they end; a second one is raised."""

    def __init__(self) -> None:
        self.stopped = self._waits = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        for name in ("SIGINT", *TERMINATION):
            number = getattr(signal, name, None)
            # A shell starts a script's background jobs with SIGINT ignored.
            if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
                self._before[number] = signal.signal(number, self._stop)
        return self

    def __exit__(self, *exc: object) -> None:
        for number, before in self._before.items():
            signal.signal(number, before)

    def file(self, file: BufferedReader) -> BinaryIO:
        """Return a file that has its bytes, and ends at a signal."""
        self._file = file
        return cast(BinaryIO, self)

    def read(self, size: int) -> bytes:
        """Return the next bytes of the file, after a signal no more than are there."""
        data = b""
        try:
            self._waits = True
            while not self.stopped and len(data) < size:
                if not (more := self._file.read1(size - len(data))):
                    break
                data += more
        except KeyboardInterrupt:
            pass
        finally:
            self._waits = False
        return data

    def _stop(self, *_: object) -> None:
        self.__exit__()
        self.stopped = True
        if self._waits:  # for a pipe that may be silent
            raise KeyboardInterrupt


def _imported(
    packets: list[Path],
    ports: frozenset[int],
    show_secrets: bool,
    balances: list[tuple[str, Balance]],
    reading: _UntilCtrlC,
) -> Iterator[Iterator[CaptureRecord]]:
    """Yield the records of each event; every file is a recording of its own."""
    from uuid import uuid4

    from kwire.extras import importing
    from kwire.proxy.capture.records import event_records
    from kwire.text.ids import uuid_text

    with importing("dpkt", "pcap", "reading packets"):
        from kwire.proxy.capture.pcap_import import PacketImport

    for path in packets:
        if reading.stopped:
            return
        capture, from_stdin = uuid_text(uuid4()), str(path) == "-"
        name = "stdin" if from_stdin else str(path)
        stdin = cast("BufferedReader", sys.stdin.buffer)
        with nullcontext(stdin) if from_stdin else path.open("rb") as file:
            imported = PacketImport(reading.file(file), name, ports)
            balances.append((name, imported.balance))
            for number, event in enumerate(imported.events()):
                at = event.at
                yield event_records(event, number, capture, at, show_secrets=show_secrets)
        if reading.stopped:
            imported.balance.ended = None  # the file may go on


def _print_balance(name: str, balance: Balance) -> Iterator[str]:
    """Print what was read of a file and what was not; yield the losses."""
    from kwire.text.untrusted import harmless

    typer.echo(f"\n{harmless(name)}")
    for item in balance.items:
        typer.secho(f"  {item.name:<14}{item.text}", fg="yellow" if item.lost else None)
        if item.lost:
            yield f"{harmless(name)}, {item.name}: {item.text}"


def _write_packets(
    records: Iterable[CaptureRecord], out: Path, *, secrets: bool
) -> tuple[int, str]:
    from kwire.extras import importing
    from kwire.permissions import open_private

    with importing("dpkt", "pcap", "writing packets"):
        from kwire.proxy.capture.pcap_export import write_pcapng

    with open_private(out) as file:
        return write_pcapng(records, file, shows_secrets=secrets), "packets"


def _write_json(records: Iterable[CaptureRecord], out: Path) -> tuple[int, str]:
    import json

    from kwire.cli.flows.json_values import flow_data, notice_data
    from kwire.permissions import open_private
    from kwire.proxy import DecodedFlow, Flow, Notice
    from kwire.proxy.capture.records import events

    count = 0
    with open_private(out) as file:
        for event in events(records):
            if isinstance(event, Flow):
                data = flow_data(DecodedFlow(event), tree=True)
            elif isinstance(event, Notice):
                data = notice_data(event)
            else:
                continue
            file.write(f"{json.dumps(data)}\n".encode("ascii"))
            count += 1
    return count, "events"
