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
    ("/", "filter the flows, later ones too; Enter applies it"),
    ("↑ ↓ PgUp PgDn Home End", "move; at the last line the cursor follows what comes"),
    ("space", "stay at this flow, or follow again"),
    ("Tab", "to the tree of the flow and back; Enter opens a branch"),
    ("h", "hold requests, or responses: an expression says which; ↑ brings earlier ones"),
    ("r  R", "resume the held message at the cursor, else the oldest; all of them"),
    ("d  x", "drop it; kill it, with its connection"),
    ("e", "set a field of it"),
    ("u", "rules: add, switch and remove them"),
    ("w", "write what is shown to a .jsonl or .avro file"),
    ("c", "forget what was"),
    ("p", "in a narrow terminal: quorum and latencies in place of the flows, and back"),
    ("?", "these keys"),
    ("Escape", "out of a line, a question or a list, nothing changed"),
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
    Keys VerticalScroll { border: round $accent; background: $panel; padding: 1 2; }
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
