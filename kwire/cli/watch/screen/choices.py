"""Textual's command palette as a list to choose from, whose texts may come from the wire."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text
from textual.app import App
from textual.command import CommandPalette, DiscoveryHit, Hits, Provider, SimpleCommand
from textual.markup import escape


def choose(app: App[None], choices: Sequence[SimpleCommand], question: str) -> None:
    """Ask for one of the choices, which is then called."""

    class Choices(Provider):
        """Lists choices as they are written: Textual's own providers take texts as markup."""

        async def discover(self) -> Hits:
            async for hit in self.search(""):
                yield hit

        async def search(self, query: str) -> Hits:
            for text, callback, explanation in choices:
                if query.lower() in text.lower():
                    help_text = escape(explanation) if explanation else None
                    yield DiscoveryHit(Text(text), callback, text, help_text)

    app.push_screen(CommandPalette(providers=[Choices], placeholder=question))
