"""Replays one seed of a scenario and prints its timeline.

python -m tests.controller.virtual paused_in_a_request 7
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import typer

from tests.controller.virtual.play import play
from tests.controller.virtual.scenarios import SCENARIOS


def main(scenario: str, seed: int) -> None:
    """Play a scenario from a seed. Exit code 1 if a promise was broken."""
    if scenario not in SCENARIOS:
        raise typer.BadParameter(f"{scenario} is none of {', '.join(SCENARIOS)}")
    with tempfile.TemporaryDirectory() as folder:
        result = play(SCENARIOS[scenario], seed, Path(folder))
    typer.echo("\n".join([*result.timeline, *result.violations, str(result.counts)]))
    raise typer.Exit(1 if result.violations else 0)


if __name__ == "__main__":
    typer.run(main)
