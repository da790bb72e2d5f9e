"""The screen of packets: as that of a proxy, but nothing can be held or changed."""

from __future__ import annotations

from typing import ClassVar

from rich.text import Text
from textual.binding import Binding, BindingType

from kwire.cli.watch.packets import NAME, PacketThread
from kwire.cli.watch.screen.app import WatchApp
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

    async def open_source(self) -> None:
        """Begin to read."""
        self._packets.start()
        self._stack.callback(self._packets.stop)

    def action_refuse(self) -> None:
        """Say why the key does nothing."""
        self._complain(REFUSAL)

    def take(self) -> list[FeedEvent]:
        """Return the events since the last call."""
        return self._packets.take()

    @property
    def status_text(self) -> Text:
        """A line with the numbers of packets and events, and what is missing."""
        packets = self._packets
        state = "ended" if packets.ended else ""
        text = Text.assemble(
            (" kwire watch ", "bold"),
            (NAME, "cyan"),
            f"   {packets.packet_count:,} packets   {len(self.flows)} events kept",
            (f"   {state}" if state else "", "bold"),
            ("" if self._list.following else "   paused", "bold"),
        )
        if packets.problem:
            text.append(f"   {packets.problem}", "bold red")
        elif losses := packets.losses:
            text.append(f"   {'; '.join(losses)}", "bold yellow")
        return text
