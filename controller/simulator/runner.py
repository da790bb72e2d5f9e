"""One scenario with one seed, or with many."""

from __future__ import annotations

import signal
import traceback
from collections.abc import Generator, Iterable
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from dataclasses import dataclass
from itertools import islice

from controller.simulator.broker_scenarios import BROKERS
from controller.simulator.kafka_scenarios import KAFKA
from controller.simulator.run import Run
from controller.simulator.storms import STORMS
from controller.simulator.violation import Violation

SCENARIOS = {**KAFKA, **STORMS, **BROKERS}

CHUNK = 20
"""Seeds that a process plays before it reports: a second or two of work."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """events: how many actions were run. violation: None where all held, else what did not.

    milliseconds: of virtual time. trace: lines, where they were asked for.
    """

    scenario: str
    seed: int
    events: int
    milliseconds: int
    violation: str | None
    trace: tuple[str, ...] = ()


def scenario_names() -> tuple[str, ...]:
    """Kafka's first."""
    return tuple(SCENARIOS)


def run(scenario: str, seed: int, *, traced: bool = False) -> Result:
    """Play a scenario. An exception out of the core is a violation too. KeyError: no such."""
    play, state = SCENARIOS[scenario], Run(seed, traced=traced)
    violation = None
    try:
        play(state)
    except Violation as found:
        violation = str(found)
    except Exception as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        violation = f"{type(error).__name__}: {error} ({frame.name}, line {frame.lineno})"
    cluster = state.cluster
    return Result(
        scenario=scenario,
        seed=seed,
        events=cluster.scheduler.actions if cluster else 0,
        milliseconds=cluster.scheduler.elapsed if cluster else 0,
        violation=violation,
        trace=tuple(cluster.trace.lines) if cluster and cluster.trace else (),
    )


def run_many(
    scenarios: Iterable[str], seeds: range, *, jobs: int = 1
) -> Generator[list[Result], None, None]:
    """Each scenario with each seed, in so many processes; results as they come, in chunks.

    Close it where it is left early: that waits for the chunks being played.
    """
    chunks = [
        (name, seeds[start : start + CHUNK])
        for name in scenarios
        for start in range(0, len(seeds), CHUNK)
    ]
    if jobs == 1 or len(chunks) == 1:
        yield from (_run_chunk(*chunk) for chunk in chunks)
        return
    waiting = iter(chunks)
    with ProcessPoolExecutor(min(jobs, len(chunks)), initializer=_leave_interrupts) as pool:
        # No more is asked for than the processes need: whoever leaves waits for little.
        running = {pool.submit(_run_chunk, *chunk) for chunk in islice(waiting, jobs)}
        while running:
            done, running = wait(running, return_when=FIRST_COMPLETED)
            running |= {pool.submit(_run_chunk, *chunk) for chunk in islice(waiting, len(done))}
            yield from (future.result() for future in done)


def _leave_interrupts() -> None:
    """Ctrl-C is the parent's: it lets the running chunks end and asks for no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _run_chunk(scenario: str, seeds: range) -> list[Result]:
    return [run(scenario, seed) for seed in seeds]
