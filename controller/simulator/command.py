"""The simulator's command line."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Generator
from contextlib import closing
from pathlib import Path
from typing import Annotated, Self

import typer

from controller.simulator.runner import SCENARIOS, Result, run, run_many

app = typer.Typer(add_completion=False, rich_markup_mode=None)

INTERRUPTED = 130
"""Exit code of Ctrl-C, as for all commands of kwire."""

Scenario = Annotated[
    list[str] | None,
    typer.Option("--scenario", "-s", help="A scenario's name, may be repeated; else all of them."),
]


@app.command()
def simulate(
    scenario: Scenario = None,
    seeds: Annotated[int, typer.Option(min=1, help="How many seeds to play.")] = 1000,
    first: Annotated[int, typer.Option(min=0, help="The first of them.")] = 0,
    seed: Annotated[int | None, typer.Option(min=0, help="Play this one and no other.")] = None,
    trace: Annotated[bool, typer.Option(help="Print everything that happens.")] = False,
    last: Annotated[int, typer.Option(min=1, help="Lines of a failing seed's trace.")] = 60,
    output: Annotated[
        Path | None, typer.Option(help="A folder for the whole traces of failing seeds.")
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Processes.")] = os.cpu_count() or 1,
    names: Annotated[bool, typer.Option("--list", help="Print the scenarios' names.")] = False,
) -> None:
    """Look for histories in which the raft core breaks a promise of KRaft's.

    A seed decides everything: cluster, messages, faults, virtual time. A failing one is played
    again with a trace, whose end is shown. Exit codes: 0 all held, 1 something did not, 2 wrong
    usage, 130 Ctrl-C.

    \b
    python -m controller.simulator --seeds 100
    python -m controller.simulator --scenario everything --seeds 1000
    python -m controller.simulator --scenario everything --seed 17 --trace
    """
    if names:
        typer.echo("\n".join(f"{name:<50} {_purpose(name)}" for name in SCENARIOS))
        return
    chosen = _chosen(scenario)
    wanted = range(first, first + seeds) if seed is None else range(seed, seed + 1)
    if trace and len(wanted) > 1:
        raise typer.BadParameter("A trace of one seed only: say which with --seed.")
    if trace:
        for name in chosen:
            typer.echo("\n".join(run(name, wanted[0], traced=True).trace))
    failed = 0
    with Interrupt() as interrupt:
        for name in chosen:
            with closing(_play(name, wanted, jobs, interrupt)) as failing:
                for result in failing:
                    failed += 1
                    _show(result, last, output)
            if interrupt.asked:
                raise typer.Exit(INTERRUPTED)
    raise typer.Exit(1 if failed else 0)


class Interrupt:
    """Ctrl-C as a question asked between two chunks: a pool of processes is not left midway."""

    asked = False

    def __enter__(self) -> Self:
        self._before = signal.signal(signal.SIGINT, self._ask)
        return self

    def __exit__(self, *_: object) -> None:
        signal.signal(signal.SIGINT, self._before)

    def _ask(self, *_: object) -> None:
        self.asked = True


def _purpose(name: str) -> str:
    return (SCENARIOS[name].__doc__ or "").split("\n")[0]


def _chosen(names: list[str] | None) -> list[str]:
    unknown = [name for name in names or () if name not in SCENARIOS]
    if unknown:
        raise typer.BadParameter(f"There is no scenario {unknown[0]}; --list names them.")
    return names or list(SCENARIOS)


def _play(
    name: str, seeds: range, jobs: int, interrupt: Interrupt
) -> Generator[Result, None, None]:
    """The failing seeds of a scenario, while a line on a terminal tells how far it is."""
    began, played, failed, events, virtual = time.monotonic(), 0, 0, 0, 0
    with closing(run_many([name], seeds, jobs=jobs)) as chunks:
        for results in chunks:
            played += len(results)
            events += sum(result.events for result in results)
            virtual += sum(result.milliseconds for result in results)
            _tell(f"\r{name}: {played} of {len(seeds)} seeds")
            for result in (result for result in results if result.violation):
                failed += 1
                yield result
            if interrupt.asked:
                break
    took = time.monotonic() - began
    _tell("\r")
    verdict = f"{failed} FAILED" if failed else "all held"
    size = f"{events:,} events, {virtual / 3_600_000:.1f} h of virtual time"
    typer.echo(f"{name}: {played} seeds, {verdict}; {size} in {took:.1f} s")


def _tell(line: str) -> None:
    if sys.stderr.isatty():
        typer.echo(line, err=True, nl=False)


def _show(result: Result, last: int, output: Path | None) -> None:
    again = run(result.scenario, result.seed, traced=True)
    typer.echo(f"\n{result.scenario}, seed {result.seed}: {result.violation}")
    if again.violation != result.violation:
        typer.echo(f"Played again it ends otherwise: {again.violation}")
    typer.echo("\n".join(again.trace[-last:]))
    command = f"--scenario {result.scenario} --seed {result.seed} --trace"
    typer.echo(f"Replay: python -m controller.simulator {command}\n")
    if output:
        output.mkdir(parents=True, exist_ok=True)
        lines = [*again.trace, again.violation or ""]
        path = output / f"{result.scenario}-{result.seed}.txt"
        path.write_text("\n".join(lines) + "\n")
