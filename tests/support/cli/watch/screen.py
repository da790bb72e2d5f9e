"""The screen before real traffic, and what stands on it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from unittest import mock

from kwire.proxy import DecodedFlow
from tests.support.eventually import TOO_LONG, eventually
from tests.support.proxy.feed.voting_traffic import Traffic, traffic

if TYPE_CHECKING:
    from textual.pilot import Pilot
    from textual.widgets import DataTable, Input
    from textual.widgets.tree import TreeNode

    from kwire.cli.watch.screen.app import WatchApp
    from kwire.cli.watch.screen.details import Details, TreePosition
    from kwire.cli.watch.screen.flow_list import FlowList


ROUNDS = 5
"""In which all widgets handle what waits for them, for messages that lead to others."""


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
        self.line.value = text
        await self.press("enter")

    def type_at_once(self, characters: str) -> None:
        """Type as a terminal without bracketed paste pastes: keys, none of them waited for."""
        from textual.events import Key
        from textual.keys import _character_to_key

        for character in characters:
            self.app.post_message(Key(_character_to_key(character), character))

    def paste(self, text: str) -> None:
        from textual.events import Paste

        self.app.post_message(Paste(text))

    @property
    def is_writing(self) -> bool:
        """True if keys go into a line."""
        from textual.widgets import Input

        return isinstance(self.app.focused, Input)

    @property
    def line(self) -> Input:
        """The line that is being written."""
        from textual.widgets import Input

        line = self.app.screen.focused
        assert isinstance(line, Input)
        return line

    @property
    def filter(self) -> Input:
        """The line of the filter."""
        from textual.widgets import Input

        return self.app.query_one("#filter Input", Input)

    @property
    def flows(self) -> FlowList:
        """The list of flows."""
        from kwire.cli.watch.screen.flow_list import FlowList

        return self.app.query_one(FlowList)

    @property
    def details(self) -> Details:
        """The tree of the flow at the cursor."""
        from kwire.cli.watch.screen.details import Details

        return self.app.query_one(Details)

    @property
    def rules(self) -> DataTable[Any]:
        """The table of rules."""
        from textual.widgets import DataTable

        return self.app.screen.query_one(DataTable)

    @property
    def lines(self) -> list[str]:
        """The list of flows as it is drawn."""
        flows = self.flows
        drawn = (flows.render_line(y).text.rstrip() for y in range(flows.size.height))
        return [line for line in drawn if line]

    @property
    def votes(self) -> int:
        """The answered Votes in the list."""
        return len([line for line in self.lines if "Vote v2" in line and "HELD" not in line])

    @property
    def tree(self) -> list[str]:
        """The open branches of the details."""
        return [str(node.label) for node in opened(self.details.root)]

    def branch(self, path: str) -> TreeNode[TreePosition]:
        """Return the branch of the field that an edit would change."""
        return next(
            node
            for node in opened(self.details.root)
            if node.data is not None and node.data.path == path
        )

    def text(self, selector: str) -> str:
        """Return the text of a panel."""
        from textual.widgets import Static

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


@contextmanager
def handled(pilot: Pilot[None]) -> Iterator[None]:
    """Have the pilot wait until all messages are handled.

    Textual's own waits until the process needs little CPU time, as it also does on a busy machine.
    """

    async def handle_all(min_sleep: float = 0) -> None:
        for _ in range(ROUNDS):
            await pilot._wait_for_screen()
            pilot.app.screen._on_timer_update()

    with (
        mock.patch("textual.app.wait_for_idle", handle_all),
        mock.patch("textual.pilot.wait_for_idle", handle_all),
    ):
        yield


@asynccontextmanager
async def screen(
    view: str = "", token: bytes = b"", size: tuple[int, int] = (150, 40)
) -> AsyncIterator[Screen]:
    """A screen that a proxy answers."""
    from kwire.cli.watch.screen.app import WatchApp  # textual

    async with traffic(token) as run:
        app = WatchApp(run.feed.address, view=view, token=token)
        # A busy machine takes more than Textual's 5 s to the last of three messages.
        kept = mock.patch.object(WatchApp, "NOTIFICATION_TIMEOUT", TOO_LONG)
        async with app.run_test(size=size) as pilot:
            with handled(pilot), kept:
                shown = Screen(app, pilot, run)
                await shown.until(lambda: "0 lost" in shown.text("#status"))
                yield shown
