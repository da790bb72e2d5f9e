"""Lines of flows in a pipe are those that rich prints there."""

import pytest
from rich.console import Group, RenderableType
from rich.text import Text

from kwire.cli.flows.display import Display, Selection
from kwire.cli.screen import UNWRAPPED, screen


@pytest.mark.parametrize(
    "lines",
    [
        [Text("")],
        [Text("  #1  1 → 3000  ", "bold"), Text("漢字 é 😀 \u200b x " * 50, "dim")],
        [Text.assemble(("Vote v2", "cyan"), "  40 B "), Text("[bold]no markup[/bold] :smile:")],
        [Text("a\tb")],
        [Text("x" * UNWRAPPED), Text("word " * UNWRAPPED)],
        [Text("one"), "no text"],
    ],
)
def test_a_pipe_gets_what_rich_prints(
    lines: list[RenderableType], capsys: pytest.CaptureFixture[str]
) -> None:
    screen().print(Group(*lines))
    printed = capsys.readouterr().out
    Display(Selection())._print(Group(*lines))
    assert capsys.readouterr().out == printed
