"""`kwire capture export` and `import`: captures as other tools have them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.capture import Captures, everything, files, warn
from cli.failure import WrongUsage

if TYPE_CHECKING:
    from kwire.capture import CaptureRecord


def export(
    captures: Captures,
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FILE", help="FILE.pcapng or FILE.jsonl.")
    ],
) -> None:
    """Write captures as packets for Wireshark, or as JSON lines with the whole messages.

    The TCP connections around the frames are made up. Wireshark's Kafka dissector expects port
    9092; tshark takes others with -d tcp.port==9093,kafka.

    \b
    kwire capture export quorum.avro --out quorum.pcapng
    kwire capture export quorum.avro --out quorum.jsonl
    """
    if out.suffix not in (".pcapng", ".jsonl"):
        raise WrongUsage(f"{str(out)!r} is neither FILE.pcapng nor FILE.jsonl.")
    paths = files(captures)
    write = _write_packets if out.suffix == ".pcapng" else _write_json
    count, what = write(paths, out)
    typer.echo(f"{count} {what} written to {out}")


def import_(
    packets: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="Files of tcpdump: pcap or pcapng.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="The capture to write.")],
    node_port: Annotated[
        list[int] | None,
        typer.Option(
            metavar="PORT",
            help="At which nodes listen; without it the lower port of two is the node's.",
        ),
    ] = None,
    show_secrets: Annotated[
        bool, typer.Option("--show-secrets", help="Keep passwords and tokens as they are.")
    ] = False,
) -> None:
    """Make a capture of what tcpdump has written on a broker.

    \b
    tcpdump -i any -w broker.pcap port 9092
    kwire capture import broker.pcap --out broker.avro --node-port 9092
    """
    from kwire.capture import CaptureFile, RecordEncoder
    from kwire.errors import KwireError

    file, encoder, count = CaptureFile(out), RecordEncoder(), 0
    try:
        for records in _imported(packets, frozenset(node_port or ()), show_secrets):
            file.write(*map(encoder.encode, records))
            count += 1
        file.close()
    except (KwireError, OSError, KeyboardInterrupt):
        file.discard()
        raise
    typer.echo(f"{count} events written to {out}")


def _imported(
    packets: list[Path], ports: frozenset[int], show_secrets: bool
) -> Iterator[Iterator[CaptureRecord]]:
    """The records of each event; every file is a recording of its own."""
    from uuid import uuid4

    from kwire.ids import uuid_text
    from proxy.pcap_import import import_events
    from proxy.records import event_records

    for path in packets:
        capture = uuid_text(uuid4())
        with path.open("rb") as file:
            for number, event in enumerate(import_events(file, str(path), ports)):
                at = event.at
                yield event_records(event, number, capture, at, show_secrets=show_secrets)


def _write_packets(paths: list[Path], out: Path) -> tuple[int, str]:
    from proxy.pcap_export import write_pcapng

    with out.open("wb") as file:
        return write_pcapng(_whole(paths), file), "packets"


def _write_json(paths: list[Path], out: Path) -> tuple[int, str]:
    import json

    from cli.flow_json import flow_data, notice_data
    from proxy import DecodedFlow, Flow, Notice
    from proxy.records import events

    count = 0
    with out.open("w", encoding="ascii") as file:
        for event in events(_whole(paths)):
            if isinstance(event, Flow):
                data = flow_data(DecodedFlow(event), tree=True)
            elif isinstance(event, Notice):
                data = notice_data(event)
            else:
                continue
            file.write(json.dumps(data) + "\n")
            count += 1
    return count, "events"


def _whole(paths: list[Path]) -> Iterator[CaptureRecord]:
    """The records; damage is told."""
    from kwire.capture import Damage

    for record in everything(paths):
        if isinstance(record, Damage):
            warn(record)
        else:
            yield record
