"""`kwire capture export` and `import`: captures in the formats of other tools."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from itertools import chain, count, islice
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from kwire.cli.capture.files import CAPTURES, DamageTold, print_written
from kwire.cli.errors import INTERRUPTED, CommandFailed, WrongUsage
from kwire.cli.flows.options import MEANT, TimeRange, expression
from kwire.cli.options import argument, flag, option, reads_options
from kwire.cli.packet_input import (
    NODE_PORT,
    STDIN,
    TLS_KEYS,
    PacketInput,
    key_log,
    print_balance,
    stdin_packets,
)

if TYPE_CHECKING:
    from kwire.capture import CaptureRecord
    from kwire.proxy.capture.packets.balance import Balance
    from kwire.proxy.capture.packets.key_log import KeyLog
    from kwire.proxy.capture.pcap_import import PacketImport


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

    damage = DamageTold()
    reading = CaptureReading(
        captures=captures, times=times, selected=expression(view), on_damage=damage
    )
    records = iter(reading.records())
    first = list(islice(records, 1))  # a capture that cannot be read leaves no file behind
    if out.suffix == ".pcapng":
        count, noun = _write_packets(chain(first, records), out, secrets=reading.shows_secrets)
    else:
        count, noun = _write_json(chain(first, records), out)
    typer.echo(f"{count} {noun} written to {out}")
    damage.end()


@reads_options
def import_(
    packets: list[Path] = argument(
        metavar="FILE...",
        help="Files of tcpdump: pcap or pcapng, also gzip'ed; - for stdin.",
        allow_dash=True,
    ),
    out: Path = option("--out", "-o", default=..., metavar="FILE", help="The capture to write."),
    node_port: list[int] = NODE_PORT,
    tls_keys: Path | None = TLS_KEYS,
    show_secrets: bool = flag("--show-secrets", help="Keep passwords and tokens as they are."),
) -> None:
    """Make a capture of what tcpdump has written on a broker, and print what became of each packet.

    If packets were lost, cut or cannot be read, the capture has the rest, and the exit code is 1.
    After Ctrl-C it has what was read until then.

    \b
    tcpdump -i any -s 0 -B 65536 -w broker.pcap port 9092
    kwire capture import broker.pcap --out broker.avro --node-port 9092
    kwire capture import broker.pcap --out broker.avro --tls-keys keys.log
    ssh broker tcpdump -i any -U -w - port 9092 | kwire capture import - --out broker.avro
    """
    balances: list[tuple[str, Balance]] = []
    reading = PacketInput()
    imports = packet_imports(packets, frozenset(node_port), key_log(tls_keys), balances, reading)
    count = import_packets(imports, out, reading, show_secrets=show_secrets)
    if count:
        print_written(count, out)
    losses = [loss for name, balance in balances for loss in print_balance(name, balance)]
    if reading.stopped:
        has = f"{out} has what was read until then" if count else f"{out} was not made"
        unread = ", ".join(map(str, packets[len(balances) :]))
        typer.echo(f"Stopped: {has}{unread and f'; not read: {unread}'}.", err=True)
        raise typer.Exit(INTERRUPTED)
    if not count:
        print_written(count, out)  # fails, behind the balance that says why nothing was written
    if losses:
        raise CommandFailed(f"not all is in the capture: {'; '.join(losses)}")


def import_packets(
    imports: Iterator[PacketImport], out: Path, reading: PacketInput, *, show_secrets: bool = False
) -> int:
    """Write what is in packets to a capture; return the number of events, no file for none."""
    from kwire.capture import CaptureFile, RecordEncoder
    from kwire.errors import KwireError

    file, encoder, count = CaptureFile(out, shows_secrets=show_secrets), RecordEncoder(), 0
    try:
        with reading:
            for records in _imported(imports, show_secrets=show_secrets):
                if records is None:
                    if file.waiting:
                        file.flush()
                    continue
                file.write(*map(encoder.encode, records))
                count += 1
        file.close()
    except (KwireError, OSError, KeyboardInterrupt):
        file.discard()
        if reading.stopped:  # before there was a packet
            raise KeyboardInterrupt from None
        raise
    return count


def packet_imports(
    packets: list[Path],
    ports: frozenset[int],
    keys: KeyLog | None,
    balances: list[tuple[str, Balance]],
    reading: PacketInput,
) -> Iterator[PacketImport]:
    """Yield the import of each file while it is open. balances: get the one of each."""
    from kwire.extras import importing

    with importing("dpkt", "pcap", "reading packets"):
        from kwire.proxy.capture.pcap_import import PacketImport

    for path in packets:
        if reading.stopped:
            return
        from_stdin = str(path) == "-"
        name = STDIN if from_stdin else str(path)
        with nullcontext(stdin_packets()) if from_stdin else path.open("rb") as file:
            imported = PacketImport(reading.file(file), name, ports, keys)
            balances.append((name, imported.balance))
            yield imported
        if reading.stopped:
            imported.balance.ended = None  # the file may go on


def _imported(
    imports: Iterator[PacketImport], *, show_secrets: bool
) -> Iterator[Iterator[CaptureRecord] | None]:
    """Yield the records of each event, None for a moment that has passed in a pipe.

    Every file is a recording of its own.
    """
    from uuid import uuid4

    from kwire.proxy.capture.records import event_records
    from kwire.text.ids import uuid_text

    for imported in imports:
        capture, numbers = uuid_text(uuid4()), count()
        for event in imported.live_events():
            if event is None:
                yield None
            else:
                number, at = next(numbers), event.at
                yield event_records(event, number, capture, at, show_secrets=show_secrets)


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
