"""A whole run against a client: each task without faults first, then the cases of those it can do.

1. Tasks without faults, each once: `client/start`. One that fails skips its cases.
2. Cases, a few at once, each with nodes and a process of its own.
3. A case that failed while the machine was busy, that is one whose client was ended after its time,
   is repeated alone with twice the time.
4. The run ends at its time limit; what was not run is SKIPPED.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import import_module

from kwire.conform.clients.case import ClientCase, ClientTask
from kwire.conform.clients.play import Play
from kwire.conform.clients.run_case import ClientUnderTest, run_case
from kwire.conform.result import CheckResult, skipped
from kwire.conform.vocabulary import ConformanceVerdict
from kwire.errors import InvalidValue

SECTIONS = (
    "start requests versions headers metadata errors backoff throttling bootstrap connections "
    "sequences transactions groups consumer_groups fetching login hostile"
)
"""The modules of `kwire.conform.clients.cases`, in the report's order."""

START = "client/start"
PASS = ConformanceVerdict.PASS

OnCase = Callable[[CheckResult], None]


@cache
def all_cases() -> tuple[ClientCase, ...]:
    """Return every case with its id, in the order of the report."""
    modules = (import_module(f"kwire.conform.clients.cases.{name}") for name in SECTIONS.split())
    return tuple(case for module in modules for case in module.SECTION)


def select_cases(ids: Sequence[str]) -> tuple[ClientCase, ...]:
    """Return the cases with these ids, or below them; without ids all. Raises InvalidValue."""
    for name in ids:
        if not any(_below(case.id, name) for case in all_cases()):
            raise InvalidValue(f"no case is called {name!r}: see `kwire conform --client --list`")
    return tuple(c for c in all_cases() if not ids or any(_below(c.id, name) for name in ids))


def case_of(name: str) -> ClientCase:
    """Return the case with this id. Raises InvalidValue."""
    for case in all_cases():
        if case.id == name:
            return case
    raise InvalidValue(f"no case is called {name!r}: see `kwire conform --client --list`")


def _below(case_id: str, name: str) -> bool:
    return case_id == name or case_id.startswith(f"{name.rstrip('/')}/")


@dataclass(kw_only=True)
class ClientRun:
    """A run against a client.

    usual: the plays of tasks without faults. problem: why it ended early. api_versions:
    the lowest and the highest version that the client sent, by API key.
    """

    cases: tuple[ClientCase, ...]
    results: dict[str, CheckResult] = field(default_factory=dict)
    usual: dict[ClientTask, Play] = field(default_factory=dict)
    problem: str = ""
    seconds: float = 0.0
    api_versions: dict[int, tuple[int, int]] = field(default_factory=dict)

    def see(self, play: Play) -> None:
        """Take the versions that the client sent."""
        for request in play.requests:
            if not request.problem:
                low, high = self.api_versions.get(request.key, (request.version, request.version))
                spread = min(low, request.version), max(high, request.version)
                self.api_versions[request.key] = spread


async def run_cases(
    client: ClientUnderTest,
    run: ClientRun,
    *,
    limit: float,
    on_result: OnCase = lambda result: None,
) -> None:
    """Run cases against a client, into `run`. limit: seconds. Raises ProgramNotStarted."""
    began = time.monotonic()
    turns = _Turns(client, run, on_result)
    starts = {case.task: case for case in all_cases() if case.id.startswith(f"{START}/")}
    # 4.
    end = asyncio.timeout(limit)
    with suppress(TimeoutError):
        async with end:
            # 1.
            await turns.together([starts[task] for task in {c.task: None for c in run.cases}])
            # 2.
            await turns.together([c for c in run.cases if not c.id.startswith(f"{START}/")])
            # 3.
            for case in turns.hung:
                await turns.play(case, patience=2.0)
    if end.expired():
        run.problem = f"the time limit of {limit:g} s is over"
    for case in run.cases:
        if case.id not in run.results:
            turns.finish(skipped(case.id, run.problem))
    run.seconds = time.monotonic() - began


@dataclass(slots=True)
class _Turns:
    """The plays of a run. hung: cases whose client had to be ended."""

    client: ClientUnderTest
    run: ClientRun
    on_result: OnCase
    hung: list[ClientCase] = field(default_factory=list)

    def finish(self, result: CheckResult) -> None:
        """Take a result."""
        self.run.results[result.id] = result
        self.on_result(result)

    async def together(self, cases: Sequence[ClientCase]) -> None:
        """Play cases, as many at once as the client allows."""
        waiting = list(reversed(cases))

        async def work() -> None:
            while waiting:
                await self.play(waiting.pop())

        workers = [asyncio.create_task(work()) for _ in range(self.client.together)]
        try:
            for worker in asyncio.as_completed(workers):
                await worker
        finally:
            for task in workers:
                task.cancel()
            await asyncio.gather(*workers, return_exceptions=True)

    async def play(self, case: ClientCase, patience: float = 1.0) -> None:
        """Play a case, unless the client cannot do its task even without faults."""
        usual = self.run.usual.get(case.task)
        is_start = case.id.startswith(f"{START}/")
        if not is_start and usual is None:
            self.finish(skipped(case.id, f"the client does not do the task {case.task.value}"))
            return
        play, result = await run_case(case, self.client, usual, patience)
        self.run.see(play)
        if is_start and result.verdict is PASS:
            self.run.usual[case.task] = play
        hangs = play.program is not None and play.program.exit_code is None
        if hangs and patience == 1.0 and not is_start:
            self.hung.append(case)
            return
        if patience > 1.0:
            note = f"repeated alone, with {patience:g} times the time"
            result = replace(result, reason="; ".join(filter(None, (result.reason, note))))
        self.finish(result)
