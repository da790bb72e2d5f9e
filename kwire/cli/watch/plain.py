"""`kwire watch` without a screen: a line a flow, until Ctrl-C or until its reader has gone."""

from __future__ import annotations

import asyncio

from kwire.cli.flows.display import Display
from kwire.cli.printer import Printer
from kwire.cli.screen import screen
from kwire.net.address import Address
from kwire.proxy import DecodedFlow, Flow
from kwire.proxy.feed.datagrams import Status
from kwire.proxy.feed.receiver import Receiver
from kwire.proxy.feed.source import FeedEvent
from kwire.proxy.feed.watching import new_changes, watching


def run(address: Address, display: Display, *, token: bytes, backlog: int) -> None:
    """Print the traffic of a proxy until Ctrl-C, which is a KeyboardInterrupt."""
    asyncio.run(_run(address, display, token, backlog))


async def _run(address: Address, display: Display, token: bytes, backlog: int) -> None:
    loop = asyncio.get_running_loop()
    unread = asyncio.Event()
    status_lines = _StatusLines(address)

    def take(watched: FeedEvent) -> None:
        if watched.held:  # its flow follows when it has ended
            return
        event = watched.event
        seen = DecodedFlow(event) if isinstance(event, Flow) else event
        printer.put(lambda: display.show(seen), event.weight)

    with Printer(lambda: loop.call_soon_threadsafe(unread.set)) as printer:
        async with watching(
            address, take, token=token, backlog=backlog, on_status=status_lines.update
        ) as receiver:
            status_lines.receiver = receiver
            silence = loop.call_later(2.0, status_lines.update)
            try:
                await unread.wait()
            except asyncio.CancelledError:
                printer.put(lambda: display.end(printer.dropped + receiver.lost))
                raise
            finally:
                silence.cancel()


class _StatusLines:
    """Prints to stderr that the proxy answers or does not, and changes of its rules."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._answers: bool | None = None
        self._before: Status | None = None
        self.receiver: Receiver | None = None

    def update(self) -> None:
        """Print the changes since the last call."""
        status = None if self.receiver is None else self.receiver.status
        if status is not None:
            for sentence in new_changes(self._before, status):
                screen(stderr=True).print(sentence, style="dim", markup=False, highlight=False)
            self._before = status
        answers = status is not None
        if answers == self._answers:
            return
        self._answers = answers
        problem = self.receiver.problem if self.receiver is not None else ""
        why = f" ({problem})" if problem else ""
        line = f"watching {self._address}"
        if not answers:
            line = f"no answer from {self._address}{why}: does `kwire proxy --feed` run there?"
        screen(stderr=True).print(line, style="dim" if answers else "yellow")
