"""Options as values: groups of them, as typer sees them and as a command gets them."""

import inspect
from dataclasses import dataclass

import pytest
import typer
from typer.testing import CliRunner

from kwire.cli.options import argument, flag, option, reads_options, repeated


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """An inner group."""

    width: int = option("--width", "-w", default=1, help="Columns.")
    height: int = option(default=..., help="Lines.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """A group with a group in it."""

    names: list[str] = repeated("--name", help="Repeatable.")
    size: Size
    full: bool = flag("--full", help="Filled.")


@pytest.fixture
def calls() -> list[tuple[str, Box, float | None]]:
    return []


@pytest.fixture
def app(calls: list[tuple[str, Box, float | None]]) -> typer.Typer:
    app = typer.Typer(add_completion=False, rich_markup_mode=None)

    @app.command()
    @reads_options
    def draw(
        *,
        place: str = argument(help="Where."),
        box: Box,
        scale: float | None = option(help="How large."),
    ) -> None:
        """Draw a box."""
        calls.append((place, box, scale))

    return app


def test_typer_sees_the_options_of_groups_in_their_order() -> None:
    @reads_options
    def draw(*, place: str = argument(), box: Box, scale: float | None = option()) -> None:
        """Draw a box."""

    assert list(inspect.signature(draw).parameters) == [
        "place",
        "names",
        "width",
        "height",
        "full",
        "scale",
    ]


def test_a_command_gets_a_group_as_one_value(
    app: typer.Typer, calls: list[tuple[str, Box, float | None]]
) -> None:
    arguments = ["here", "--name", "a", "--name", "b", "-w", "3", "--height", "4", "--scale", "0.5"]
    assert CliRunner().invoke(app, arguments).exit_code == 0
    box = Box(names=["a", "b"], size=Size(width=3, height=4))
    assert calls == [("here", box, 0.5)]


def test_options_that_are_not_given_have_the_defaults_of_their_group(
    app: typer.Typer, calls: list[tuple[str, Box, float | None]]
) -> None:
    assert CliRunner().invoke(app, ["here", "--height", "4"]).exit_code == 0
    assert calls == [("here", Box(size=Size(height=4)), None)]


def test_an_option_without_a_default_has_to_be_given(app: typer.Typer) -> None:
    run = CliRunner().invoke(app, ["here"])
    assert run.exit_code == 2
    assert "Missing option '--height'" in run.output


def test_two_options_of_one_name_are_a_fault_of_the_command() -> None:
    def twice(*, size: Size, width: int = option(default=1)) -> None:
        """Take a width twice."""

    with pytest.raises(ValueError, match="duplicate parameter name: 'width'"):
        reads_options(twice)
