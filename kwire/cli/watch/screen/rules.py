"""The rules of the proxy: listed, added, switched and removed while traffic flows."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, ClassVar

from rich.text import Text
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import DataTable, Label

from kwire.cli.proxy.rule_text import rule_text
from kwire.cli.watch.screen.ask import InputPrompt
from kwire.errors import AnswerLost, InvalidValue, KwireError
from kwire.proxy.feed.datagrams import ShownRule
from kwire.proxy.feed.receiver import Receiver
from kwire.proxy.filters.rules import read_rule

REFRESH = 1.0
"""Seconds between two looks at the rules: their hits grow."""

QUESTION = "Add a rule, keys as in a rules file: match: ~api Fetch, delay: 2s"


def braced(text: str) -> str:
    """Return the YAML mapping of a line, in which braces may be left out."""
    return text if text.strip().startswith("{") else f"{{{text}}}"


def rule_problem(text: str) -> str:
    """Return the problem of a rule; empty if there is none."""
    try:
        read_rule(braced(text))
    except InvalidValue as error:
        return str(error)
    return ""


class RulesScreen(ModalScreen[None]):
    """Shows the rules and changes them. filter: an expression that a new rule may begin with."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "switch", "On or off", priority=True),
        Binding("a", "add", "Add", priority=True),
        Binding("delete,x", "remove", "Remove"),
        Binding("escape,u,q", "dismiss", "Back"),
    ]

    DEFAULT_CSS = """
    RulesScreen { align: center middle; background: $background 40%; }
    RulesScreen Vertical { width: 90%; height: auto; max-height: 80%; border: round $accent; }
    RulesScreen Vertical { background: $panel; padding: 1 2; }
    RulesScreen DataTable { height: auto; max-height: 100%; background: $panel; }
    RulesScreen Label { color: $text-muted; margin: 1 0 0 0; }
    """

    def __init__(self, receiver: Receiver, complain: Callable[[str], None], filter: str) -> None:
        super().__init__()
        self._receiver = receiver
        self._complain = complain
        self._filter = filter
        self._rules: tuple[ShownRule, ...] = ()
        self._table: DataTable[Any] = DataTable(cursor_type="row", zebra_stripes=True)

    def compose(self) -> ComposeResult:
        """Lay out a table and its keys."""
        with Vertical() as box:
            box.border_title = "Rules"
            yield self._table
            yield Label("space switches   a adds   x removes   Escape goes back", markup=False)

    def on_mount(self) -> None:
        """Fetch the rules, now and every second."""
        self._table.add_columns("", "name", "from", "hits", "rule")
        self._look()
        self.set_interval(REFRESH, self._look)

    def action_switch(self) -> None:
        """Switch the rule at the cursor on or off."""
        rule = self._chosen
        if rule is not None:
            self._do(partial(self._receiver.switch_rule, rule.name, enabled=not rule.enabled))

    def action_remove(self) -> None:
        """Remove the rule at the cursor."""
        rule = self._chosen
        if rule is not None:
            self._do(partial(self._receiver.remove_rule, rule.name))

    async def action_add(self) -> None:
        """Ask for a rule, and add it."""
        begun = f"match: '{self._filter.replace(chr(39), chr(39) * 2)}', delay: 1s"
        ask = InputPrompt(QUESTION, check=rule_problem, earlier=[begun] if self._filter else [])
        await self.app.push_screen(ask, self._add)

    def _add(self, text: str | None) -> None:
        if text is not None:
            self._do(partial(self._receiver.add_rule, braced(text)))

    @property
    def _chosen(self) -> ShownRule | None:
        row = self._table.cursor_row
        return self._rules[row] if 0 <= row < len(self._rules) else None

    @work
    async def _do(self, ask: Callable[[], Awaitable[object]]) -> None:
        try:
            await ask()
        except AnswerLost as error:
            self._complain(f"it is not known whether that was done: {error}")
        except KwireError as error:
            self._complain(str(error))
        self._look()

    @work(exclusive=True, group="look")
    async def _look(self) -> None:
        try:
            rules = await self._receiver.rules()
        except KwireError as error:
            self._complain(str(error))
            return
        if rules == self._rules and self._table.row_count == len(rules):
            return
        self._rules, row = rules, self._table.cursor_row
        self._table.clear()
        for rule in rules:
            state = Text("on ", "green") if rule.enabled else Text("off", "yellow")
            name, says = Text(rule.name), Text(rule_text(rule.rule))
            self._table.add_row(state, name, rule.origin, str(rule.hits), says)
        self._table.move_cursor(row=min(row, len(rules) - 1))
