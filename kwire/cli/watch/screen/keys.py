"""The keys of the screen, as `?` shows them."""

from __future__ import annotations

from typing import ClassVar

from rich.table import Table
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

KEYS = (
    ("/", "filter the flows, later ones too"),
    ("Backspace", "the filter before"),
    ("↑ ↓ PgUp PgDn Home End", "move; at the end follow what comes"),
    ("space", "stay at this flow, or follow again"),
    ("Tab", "to the tree and back; Enter opens a branch"),
    ("s  n  N", "search a text or expression; next; before"),
    ("m  M", "mark the flow, or not; go to the next mark"),
    ("f", "follow a client, group, topic, partition …"),
    ("i", "all flows of its connection"),
    ("o", "to the Envelope that forwards it, and back"),
    ("t", "history of the quorum; Enter shows the flow"),
    ("v", "use, save, remove a filter by name"),
    ("h", "hold messages; ↑ brings earlier expressions"),
    ("r  R", "resume the held message, or the oldest; all"),
    ("d  x", "drop it; kill it, with its connection"),
    ("e", "set a field of it"),
    ("u", "rules: add, switch, remove"),
    ("w", "write what is shown to a .jsonl or .avro file"),
    ("c", "forget what was, but not what is held or marked"),
    ("p", "narrow: quorum and latencies, and back"),
    ("T", "colours, dark and light"),
    ("?", "these keys"),
    ("Escape", "out of a line or a list, nothing changed"),
    ("q", "leave"),
)
"""Each key, and what it does; docs/debuggers/watch.md has the same."""


class Keys(ModalScreen[None]):
    """Lists the keys until one is pressed."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,question_mark,q,enter,space", "dismiss", "Close")
    ]

    DEFAULT_CSS = """
    Keys { align: center middle; background: $background 40%; }
    Keys VerticalScroll { width: 110; max-width: 100%; height: auto; max-height: 100%; }
    Keys VerticalScroll { border: round $accent; background: $panel; padding: 0 1; }
    """

    def compose(self) -> ComposeResult:
        """Lay out a table of the keys."""
        with VerticalScroll() as box:
            box.border_title = "Keys"
            yield Static(_table())


def _table() -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True, style="bold")
    table.add_column()
    for key, text in KEYS:
        table.add_row(Text(key), Text(text))
    return table
