"""The quorum's history: elections, leaders, epochs and voters, each with the RPC that shows it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import DataTable, Label

from kwire.proxy.flows.quorum_seen import QuorumChange
from kwire.text.times import clock_text


def change_cells(change: QuorumChange) -> tuple[Text, Text, Text]:
    """Return time, epoch and text of a change."""
    style = "bold green" if change.text.endswith(" leads") else ""
    style = "bold red" if change.text == "no leader" else style
    return (
        Text(clock_text(change.at), "dim"),
        Text(f"epoch {change.epoch}" if change.epoch >= 0 else ""),
        Text(change.text, style),
    )


class Timeline(ModalScreen[None]):
    """Lists changes, the latest at the cursor. go: shows the RPC of one."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,t,q", "dismiss", "Back")]

    DEFAULT_CSS = """
    Timeline { align: center middle; background: $background 40%; }
    Timeline Vertical { width: 70; max-width: 100%; height: auto; max-height: 100%; }
    Timeline Vertical { background: $panel; border: round $accent; padding: 0 1; }
    Timeline DataTable { height: auto; max-height: 100%; background: $panel; }
    Timeline Label { color: $text-muted; }
    """

    def __init__(self, changes: Sequence[QuorumChange], go: Callable[[QuorumChange], None]) -> None:
        super().__init__()
        self._changes = changes
        self._go = go

    def compose(self) -> ComposeResult:
        """Lay out a table of the changes."""
        table: DataTable[Any] = DataTable(cursor_type="row", show_header=False)
        with Vertical() as box:
            box.border_title = "The quorum's history"
            yield table
            hint = "Enter shows the RPC   Escape goes back"
            yield Label(hint if self._changes else "nothing of a quorum has changed yet")
        table.add_columns("time", "epoch", "change")
        for change in self._changes:
            table.add_row(*change_cells(change))
        table.move_cursor(row=len(self._changes) - 1)

    def on_data_table_row_selected(self, event: DataTable.RowSelected) -> None:
        """Go to the RPC of a change."""
        self.dismiss()
        self._go(self._changes[event.cursor_row])
