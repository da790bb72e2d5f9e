"""The screen of packets: as that of a proxy, but nothing can be held or changed."""

from __future__ import annotations

from typing import ClassVar

from rich.text import Text
from textual.binding import Binding, BindingType

from kwire.cli.packet_input import STDIN
from kwire.cli.watch.packets import PacketThread
from kwire.cli.watch.screen.app import WatchApp
from kwire.proxy.feed.sampling import Sampler
from kwire.proxy.feed.source import FeedEvent

REFUSAL = "packets have passed when they are seen: `kwire proxy --feed` can hold and change them"


class PacketsApp(WatchApp):
    """Shows the flows of packets. view: the filter to begin with."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("h,r,R,d,x,e,u", "refuse", "Hold", show=False, priority=False)
    ]

    def __init__(self, packets: PacketThread, *, view: str = "") -> None:
        super().__init__(view=view)
        self._packets = packets
        self._sampler = Sampler()
        self._left_out = 0
        self._latest = 0.0

    async def open_source(self) -> None:
        """Begin to read."""
        self._packets.start()
        self._stack.callback(self._packets.stop)

    def action_refuse(self) -> None:
        """Say why the key does nothing."""
        self._complain(REFUSAL)

    def take(self) -> list[FeedEvent]:
        """Return the events since the last call, where too many come a sample of them."""
        came = self._packets.take()
        taken = [watched for watched in came if self._takes(watched)]
        self._left_out += len(came) - len(taken)
        return taken

    def _takes(self, watched: FeedEvent) -> bool:
        # By the time of the packets: a file comes faster than its traffic did.
        self._latest = max(self._latest, watched.event.at)
        is_known = self.flows.get(watched.number) is not None
        return is_known or self._sampler.takes(watched.event, self._latest, 0)

    @property
    def status_text(self) -> Text:
        """A line with the numbers of packets and events, and what is missing."""
        thread, balance = self._packets, self._packets.packets.balance
        text = Text.assemble(
            (" kwire watch ", "bold"),
            (STDIN, "cyan"),
            f"   {balance.packets:,} packets   {len(self.flows)} events kept",
            (f"   {self._left_out:,} not shown" if self._left_out else "", "yellow"),
            ("" if thread.is_alive() else "   ended", "bold"),
            ("" if self._list.following else "   paused", "bold"),
        )
        losses = "; ".join(balance.losses)
        if thread.problem or losses:
            style = "bold red" if thread.problem else "bold yellow"
            text.append(f"   {thread.problem or losses}", style)
        return text
