"""Asks for one line of text, and says at once what is wrong with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Label

from kwire.errors import InvalidValue
from kwire.proxy.flows.language import BadExpression, parse

Check = Callable[[str], str]
"""What is wrong with a text, empty where nothing is."""


def expression_problem(text: str) -> str:
    """What is wrong with an expression, behind a caret at the column where it goes wrong."""
    if not text.strip():
        return ""
    try:
        parse(text)
    except BadExpression as error:
        return f"{' ' * (error.column - 1)}^ column {error.column}: {error.reason}"
    except InvalidValue as error:
        return str(error)
    return ""


class InputPrompt(ModalScreen[str | None]):
    """Gives the text, or None where it was given up.

    earlier: texts that the keys up and down bring, the latest first.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "give_up", "Give up"),
        Binding("up", "recall(1)", "Earlier", show=False, priority=True),
        Binding("down", "recall(-1)", "Later", show=False, priority=True),
    ]

    DEFAULT_CSS = """
    InputPrompt { align: center bottom; background: $background 40%; }
    InputPrompt Vertical { width: 90; height: auto; border: round $accent; padding: 1 2; }
    InputPrompt Vertical { background: $panel; margin: 0 0 3 0; }
    InputPrompt Input { margin: 1 0 0 0; }
    InputPrompt #wrong { color: $error; height: auto; }
    """

    def __init__(
        self,
        question: str,
        text: str = "",
        check: Check = lambda text: "",
        earlier: Sequence[str] = (),
    ) -> None:
        super().__init__()
        self._texts = [text, *earlier]
        self._recalled = 0
        self._question = question
        self._text = text
        self._check = check

    def compose(self) -> ComposeResult:
        """A question, a line, and what is wrong with it."""
        with Vertical():
            yield Label(self._question, markup=False)
            hint = f"↑ {self._texts[1]}" if len(self._texts) > 1 else ""
            yield Input(self._text, hint, compact=True, select_on_focus=False)
            yield Label("", id="wrong", markup=False)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Say what is wrong."""
        event.stop()
        self.query_one("#wrong", Label).update(self._check(event.value))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Done, where nothing is wrong."""
        event.stop()
        if not self._check(event.value):
            self.dismiss(event.value)

    def action_recall(self, steps: int) -> None:
        """Put an earlier text into the line, or a later one."""
        self._recalled = min(max(self._recalled + steps, 0), len(self._texts) - 1)
        line = self.query_one(Input)
        line.value = self._texts[self._recalled]
        line.cursor_position = len(line.value)

    def action_give_up(self) -> None:
        """Leave everything as it is."""
        self.dismiss(None)
