"""The screen before real traffic, and what stands on it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from textual.pilot import Pilot
from textual.widgets import Input, Static
from textual.widgets.tree import TreeNode

from kwire.cli.watch_screen.app import WatchApp
from kwire.cli.watch_screen.details import Details, TreePosition
from kwire.cli.watch_screen.flow_list import FlowList
from kwire.proxy import DecodedFlow
from tests.support.eventually import eventually
from tests.support.proxy.feed.voting_traffic import Traffic, traffic


@dataclass
class Screen:
    """A screen and the hand at its keys."""

    app: WatchApp
    pilot: Pilot[None]
    run: Traffic

    async def until(self, condition: Callable[[], bool]) -> None:
        """Let the screen work until a condition holds."""

        async def worked() -> bool:
            await self.pilot.pause(0.02)
            return condition()

        if not condition():
            await eventually(worked, pause=0)

    async def press(self, *keys: str) -> None:
        """Press keys."""
        await self.pilot.press(*keys)
        await self.pilot.pause()

    async def write(self, text: str) -> None:
        """Put a text into the line that is asked for, and press Enter."""
        line = self.app.screen.focused
        assert isinstance(line, Input)
        line.value = text
        await self.press("enter")

    @property
    def lines(self) -> list[str]:
        """The list of flows as it is drawn."""
        flows = self.app.query_one(FlowList)
        drawn = (flows.render_line(y).text.rstrip() for y in range(flows.size.height))
        return [line for line in drawn if line]

    @property
    def votes(self) -> int:
        """The answered Votes in the list."""
        return len([line for line in self.lines if "Vote v2" in line and "HELD" not in line])

    @property
    def tree(self) -> list[str]:
        """The open branches of the details."""
        details = self.app.query_one(Details)
        return [str(node.label) for node in opened(details.root)]

    def text(self, selector: str) -> str:
        """Return the text of a panel."""
        static = self.app.screen.query_one(selector, Static)
        with self.app.console.capture() as said:
            self.app.console.print(static.content)
        return said.get()

    @property
    def notes(self) -> list[str]:
        """The notes of the flows in the list."""
        seen = (entry.seen for entry in self.app.flows.visible)
        return [
            note for event in seen if isinstance(event, DecodedFlow) for note in event.flow.notes
        ]

    @property
    def notifications(self) -> list[str]:
        """The messages that have popped up."""
        return [notification.message for notification in self.app._notifications]

    @property
    def held(self) -> list[DecodedFlow]:
        """The flows that are marked as held."""
        entries = self.app.flows.visible
        return [
            entry.seen for entry in entries if entry.held and isinstance(entry.seen, DecodedFlow)
        ]


def opened(node: TreeNode[TreePosition]) -> Iterator[TreeNode[TreePosition]]:
    """The open branches of a tree."""
    yield node
    if node.is_expanded:
        for child in node.children:
            yield from opened(child)


@asynccontextmanager
async def screen(
    view: str = "", token: bytes = b"", size: tuple[int, int] = (150, 40)
) -> AsyncIterator[Screen]:
    """A screen that a proxy answers."""
    async with traffic(token) as run:
        app = WatchApp(run.feed.address, view=view, token=token)
        async with app.run_test(size=size) as pilot:
            shown = Screen(app, pilot, run)
            await shown.until(lambda: "0 lost" in shown.text("#status"))
            yield shown
