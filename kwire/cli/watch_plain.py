"""`kwire watch` without a screen: a line a flow, until Ctrl-C or until nobody reads any more."""

from __future__ import annotations

import asyncio

from kwire.cli.printer import Printer
from kwire.cli.proxy_run import Display
from kwire.cli.screen import screen
from kwire.net.address import Address
from kwire.proxy import DecodedFlow, Flow
from kwire.proxy.feed.datagrams import Status
from kwire.proxy.feed.receiver import FeedEvent, Receiver
from kwire.proxy.feed.watching import new_changes, watching


def run(address: Address, how: Display, *, token: bytes, backlog: int) -> None:
    """Print what passes there; Ctrl-C is a KeyboardInterrupt here as everywhere."""
    asyncio.run(_run(address, how, token, backlog))


async def _run(address: Address, how: Display, token: bytes, backlog: int) -> None:
    loop = asyncio.get_running_loop()
    unread = asyncio.Event()
    teller = _Teller(address)

    def take(watched: FeedEvent) -> None:
        if watched.held:  # its flow follows when it has ended
            return
        event = watched.event
        seen = DecodedFlow(event) if isinstance(event, Flow) else event
        printer.put(lambda: how.show(seen), event.weight)

    with Printer(lambda: loop.call_soon_threadsafe(unread.set)) as printer:
        async with watching(
            address, take, token=token, backlog=backlog, on_status=teller.tell
        ) as receiver:
            teller.receiver = receiver
            silence = loop.call_later(2.0, teller.tell)
            try:
                await unread.wait()
            except asyncio.CancelledError:
                printer.put(lambda: how.end(printer.dropped + receiver.lost))
                raise
            finally:
                silence.cancel()


class _Teller:
    """Says on stderr when the proxy begins to answer, when it does not, and how rules change."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._answers: bool | None = None
        self._before: Status | None = None
        self.receiver: Receiver | None = None

    def tell(self) -> None:
        """Say what is new."""
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
        said = f"watching {self._address}"
        if not answers:
            said = f"no answer from {self._address}{why}: does `kwire proxy --feed` run there?"
        screen(stderr=True).print(said, style="dim" if answers else "yellow")
