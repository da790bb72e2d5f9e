"""Runs `kwire replay --server` and prints the requests, until Ctrl-C."""

from __future__ import annotations

import asyncio

from kwire.cli.capture.reading import CaptureReading
from kwire.cli.flows.display import Display, Selection
from kwire.cli.printer import Printer
from kwire.cli.screen import screen
from kwire.net.address import Address
from kwire.net.tls import ServerTls
from kwire.proxy import DecodedFlow, Flow, Notice, Tap
from kwire.proxy.capture.records import events
from kwire.proxy.capture.replay.answers import RecordedAnswers
from kwire.proxy.capture.replay.server import ReplayServer


def serve(
    reading: CaptureReading,
    listen: dict[int | None, Address],
    tls: ServerTls | None,
    *,
    fast: bool,
    verbose: bool,
    as_json: bool,
) -> None:
    """Answer from the captures at these addresses."""
    flows = [event for event in events(reading.records()) if isinstance(event, Flow)]
    answers = RecordedAnswers(flows, by_node=any(node_id is not None for node_id in listen))
    display = Display(Selection(), verbose=verbose, as_json=as_json)
    asyncio.run(_serve(ReplayServer(answers, listen, tls=tls, fast=fast), display))


async def _serve(server: ReplayServer, display: Display) -> None:
    loop, unread = asyncio.get_running_loop(), asyncio.Event()

    def view(seen: DecodedFlow | Notice) -> None:
        weight = (seen.flow if isinstance(seen, DecodedFlow) else seen).weight
        printer.put(lambda: display.show(seen), weight)

    def gone() -> None:
        loop.call_soon_threadsafe(unread.set)

    with Printer(gone) as printer:
        tap = Tap(view)
        server.add_sink(tap)
        try:
            async with tap, server:
                _announce(server)
                await unread.wait()
        finally:
            printer.put(lambda: display.end(printer.dropped + tap.dropped))
            if server.unmatched:
                line = f"{server.unmatched} requests were not in the recording"
                screen(stderr=True).print(line, style="red")


def _announce(server: ReplayServer) -> None:
    console = screen(stderr=True)
    for node_id, address in server.addresses.items():
        node = "" if node_id is None else f" as node {node_id}"
        answers = server.answers
        line = f"listening at {address}{node}: {answers.size} recorded requests can be answered"
        lost = f", {answers.unusable} are not whole" if answers.unusable else ""
        console.print(line + lost, style="yellow" if lost else "dim")
