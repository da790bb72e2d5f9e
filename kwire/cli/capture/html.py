"""`kwire capture html`: a trace that opens in a browser without kwire; `--mermaid` for an issue."""

from __future__ import annotations

import re
from contextlib import ExitStack
from itertools import chain, tee
from pathlib import Path
from secrets import token_bytes
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import typer

from kwire.cli.capture.files import check_is_new, print_warning
from kwire.cli.errors import CommandFailed, WrongUsage
from kwire.cli.flows.options import MEANT, TimeRange, expression
from kwire.cli.options import argument, flag, option, reads_options
from kwire.cli.packet_input import NODE_PORT, TLS_KEYS, key_log

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kwire.capture import Damage
    from kwire.cli.capture.reading import CaptureReading
    from kwire.proxy.capture.packets.balance import Balance
    from kwire.proxy.capture.packets.key_log import KeyLog
    from kwire.trace.collected import Collected

_RANGE = re.compile(r"(\d{1,9})(?:\.\.(\d{1,9}))?")

DRAWN = 200
"""Flows of a sequence diagram; a longer one is no help, and Mermaid refuses it."""


@reads_options
def html(
    *,
    captures: list[Path] = argument(
        metavar="FILE...",
        help="Captures, folders of them, and files of tcpdump: pcap or pcapng, also gzip'ed.",
    ),
    out: Path | None = option("--out", "-o", metavar="FILE", help="The page to write."),
    mermaid: str | None = option(
        metavar="A..B", help="Print the flows A to B as a sequence diagram instead."
    ),
    log: Path | None = option(
        metavar="DIR",
        help="The folder __cluster_metadata-0 of a controller: show what requests changed.",
    ),
    share: bool = flag("--share", help="Rename topics, clients, hosts and all other strings."),
    node_port: list[int] = NODE_PORT,
    tls_keys: Path | None = TLS_KEYS,
    view: str | None = MEANT,
    times: TimeRange,
) -> None:
    """Write a trace that opens in any browser: lanes, messages, bytes, related flows, a filter.

    It is one file, which loads nothing. Secrets are never in it; names and contents are, unless
    --share takes them out. Of more than 20,000 RPCs some are left out, and the page says so. What
    could not be read is said there, too, and gives exit code 1.

    \b
    kwire capture html stuck.avro --out stuck.html
    kwire capture html broker.pcap --node-port 9092 --out broker.html --share
    kwire capture html stuck.avro --log /var/kafka/__cluster_metadata-0 --out stuck.html
    kwire capture html stuck.avro --mermaid 213..220
    """
    from kwire.cli.capture.reading import CaptureReading
    from kwire.cli.screen import screen
    from kwire.trace.collected import Collected

    if (out is None) == (mermaid is None):
        raise WrongUsage("Give one of --out and --mermaid.")
    if out is not None:
        check_is_new(out)
    numbers = None if mermaid is None else _numbers(mermaid)
    collected = Collected()
    with ExitStack() as stack:
        stack.enter_context(screen(stderr=True).status("reading"))
        paths = _as_captures(captures, frozenset(node_port), key_log(tls_keys), stack, collected)
        selected, damaged = expression(view), collected.losses.append
        reading = CaptureReading(
            captures=paths, times=times, selected=selected, on_damage=lambda it: damaged(str(it))
        )
        _collect(collected, reading, log, share=share)
    for loss in collected.losses:
        print_warning(loss)
    if not collected.totals:
        raise CommandFailed("there is no event in these captures, or none of the selected ones")
    if numbers is not None:
        _draw(collected, *numbers)
    elif out is not None:
        _write(collected, out, captures, share=share)
    if collected.losses:
        raise typer.Exit(1)


def _numbers(text: str) -> tuple[int, int]:
    match = _RANGE.fullmatch(text)
    first, last = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
    if not 0 < first <= last < first + DRAWN:
        raise WrongUsage(f"--mermaid {text}: write 213..220, up to {DRAWN} flows.")
    return first, last


def _as_captures(
    given: list[Path],
    ports: frozenset[int],
    keys: KeyLog | None,
    stack: ExitStack,
    collected: Collected,
) -> list[Path]:
    """Return captures for all files: packets become one, in a folder that the stack removes."""
    from kwire.capture.schema import MAGIC
    from kwire.cli.capture.exchange import import_packets, packet_imports
    from kwire.cli.packet_input import PacketInput

    captures: list[Path] = []
    packets: list[Path] = []
    for path in given:
        if path.is_dir():
            captures.append(path)
            continue
        with path.open("rb") as file:
            (captures if file.read(len(MAGIC)) == MAGIC else packets).append(path)
    if packets:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="kwire-")))
        balances: list[tuple[str, Balance]] = []
        reading = PacketInput()
        imports = packet_imports(packets, ports, keys, balances, reading)
        if import_packets(imports, folder / "packets.avro", reading):
            captures.append(folder / "packets.avro")
        collected.losses += [f"{name}, {loss}" for name, it in balances for loss in it.losses]
        if not captures:
            raise CommandFailed(f"there is no event in {', '.join(map(str, packets))}")
    return captures


def _collect(
    collected: Collected, reading: CaptureReading, log: Path | None, *, share: bool
) -> None:
    """Take the events of captures, without names if they are shared, and what a log says of them.

    Causes are found by names: for them the events are read as they are, too.
    """
    from kwire.metadata_history.requests import RecordedRequests
    from kwire.proxy import DecodedFlow, Event, Flow
    from kwire.proxy.capture.anonymize import Anonymizer
    from kwire.proxy.capture.records import events
    from kwire.trace.caused import add_changes

    pairs: Iterable[tuple[Event | Damage, Event | Damage]]
    if share:
        kept, named = tee(reading.groups())
        shown = map(Anonymizer(token_bytes(32)).event, kept)
        pairs = zip(
            events(chain.from_iterable(shown)), events(chain.from_iterable(named)), strict=True
        )
    else:
        pairs = ((event, event) for event in events(reading.records()))
    requests = RecordedRequests()
    for event, original in pairs:
        if not isinstance(event, Event):
            continue  # damage is told by the reading
        collected.add(event)
        if log is not None and isinstance(event, Flow) and isinstance(original, Flow):
            requests.add(DecodedFlow(original), event)
    if log is not None and collected.totals:
        add_changes(collected, log, requests, names=not share)


def _draw(collected: Collected, first: int, last: int) -> None:
    from kwire.trace.mermaid import sequence

    flows = [each for each in collected.flows() if first <= each[0] <= last]
    if not flows:
        raise CommandFailed(f"there is no flow of these numbers: 1 to {collected.totals['flows']}")
    for line in sequence(flows):
        typer.echo(line)


def _write(collected: Collected, out: Path, captures: list[Path], *, share: bool) -> None:
    from kwire.cli.flows.record_tree import record_trees
    from kwire.permissions import replace_private
    from kwire.trace.page import write_page

    title = "A trace" if share else ", ".join(path.name for path in captures)
    if share:  # names of files may tell as much as those of topics
        given = "|".join(re.escape(str(path)) for path in captures)
        hide = re.compile(f"(?:{given})(?:/[^,]*)?")
        collected.losses = [hide.sub("a file", loss) for loss in collected.losses]
    page, count = write_page(collected, record_trees, title, shared=share)
    replace_private(out, page)
    total = collected.totals["flows"]
    part = "" if count == total else f" of {total:,}"
    typer.echo(f"{count:,}{part} RPCs written to {out}: open it in a browser")
