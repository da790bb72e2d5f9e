"""Asks for one line of text, and shows its problem while it is typed."""

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

AnswerCheck = Callable[[str], str]
"""Returns the problem of a text; empty if there is none."""


def expression_problem(text: str) -> str:
    """Return the problem of an expression, behind a caret at its column; empty if there is none."""
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
    """Returns the text, or None if it was cancelled.

    earlier: texts that the keys up and down recall, the latest first.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "give_up", "Give up"),
        Binding("up", "recall(1)", "Earlier", show=False, priority=True),
        Binding("down", "recall(-1)", "Later", show=False, priority=True),
    ]

    DEFAULT_CSS = """
    InputPrompt { align: center bottom; background: $background 40%; }
    InputPrompt Vertical { width: 90; max-width: 100%; height: auto; padding: 1 2; }
    InputPrompt Vertical { border: round $accent; background: $panel; margin: 0 0 3 0; }
    InputPrompt Input { margin: 1 0 0 0; }
    InputPrompt #wrong { color: $error; height: auto; }
    """

    def __init__(
        self,
        question: str,
        text: str = "",
        check: AnswerCheck = lambda text: "",
        earlier: Sequence[str] = (),
    ) -> None:
        super().__init__()
        self._texts = [text, *earlier]
        self._recalled = 0
        self._question = question
        self._text = text
        self._check = check

    def compose(self) -> ComposeResult:
        """Lay out the question, the line and its problem."""
        with Vertical():
            yield Label(self._question, markup=False)
            hint = f"↑ {self._texts[1]}" if len(self._texts) > 1 else ""
            yield Input(self._text, hint, compact=True, select_on_focus=False)
            yield Label("", id="wrong", markup=False)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Show the problem of the text."""
        event.stop()
        self.query_one("#wrong", Label).update(self._check(event.value))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Return the text if it has no problem."""
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
        """Cancel."""
        self.dismiss(None)
