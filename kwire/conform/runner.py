"""Runs checks against a server, and finds out of which one it died.

1. Checks that may run together do so, a few at once; those that are `alone` follow, one by one.
2. After a check that is `alone`, or whose result is suspect, see whether the server answers: look,
   wait, look again. While it answers the others go on, and what ended a while ago is no suspect.
3. If it does not, all that ended since it last did are suspects. Start it anew, where there is a
   command for it, and repeat the suspects, each alone: the one of which it dies again has DIED.
   Where there is none, a single suspect has DIED; more are named as suspects, and the run ends.
4. The run ends at its time limit; what was not run is SKIPPED.
5. If the run is cancelled, checks under way still remove what they created.
6. A check that fails while the metadata quorum's leader changes is run once more.
7. A check that fails because something did not come in time is repeated, with more patience, when
   the others are done: a server that is slow under eight checks at once is not silent.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, field, replace

from kwire.conform.check import Check
from kwire.conform.connection import PATIENCE
from kwire.conform.epoch_watch import EpochWatch
from kwire.conform.result import CheckResult, ConformanceRun, skipped
from kwire.conform.run_check import run_check
from kwire.conform.target import Target, answers_api_versions, examine_target
from kwire.conform.vocabulary import ConformanceVerdict, Deviation, Need
from kwire.errors import KwireError
from kwire.net.address import Address

TOGETHER = 8
RUN_LIMIT = 900.0
"""Seconds for a run."""
LOOK_TIMEOUT = 5.0
"""Seconds that a look at the server may take."""
LOOK_AGAIN = (0.0, 1.0, 3.0)
"""Seconds to wait before each look: a process that dies may still accept for a moment."""
RESTART_LIMIT = 120.0
"""Seconds within which a server that was started anew must answer."""

DYING = 2.0
"""Seconds for which a server that is to die of a check may go on to answer."""

MORE_PATIENCE = 5.0
"""The factor by which the patience grows for a check that is repeated."""
REPEATED_TOGETHER = 4
MOST_REPEATED = 16
"""Checks and members that are repeated in vain: if more are silent, the server is not slow."""

OTHER_CLUSTER = "it changes what it cannot take back, and the server restarted as another cluster"

Restart = Callable[[], Awaitable[Address | None]]
"""Starts the server anew; returns when that is done, with its address if it is another one."""
OnResult = Callable[[CheckResult], None]


async def run_checks(
    checks: Sequence[Check],
    target: Target,
    *,
    restart: Restart | None = None,
    on_result: OnResult = lambda result: None,
    limit: float = RUN_LIMIT,
    spent: float = 0.0,
    refuse: Callable[[Check], str] = lambda check: "",
) -> ConformanceRun:
    """Run checks against a server. on_result: called with each result as it comes.

    limit: seconds, of which some are spent. A check whose server died is called a second time with
    what is known then. refuse: returns a reason for a check that is not to be run.
    """
    run = _RunState(target=target, restart=restart, on_result=on_result)
    began = time.monotonic()
    end = asyncio.timeout(limit - spent)
    # 4.
    with suppress(TimeoutError, _ServerDied):
        async with end, aclosing(run):
            # 1.
            allowed = [check for check in checks if not run.refused(check, refuse(check))]
            await run.together([check for check in allowed if not check.alone])
            # 7.
            await run.repeat_silent(allowed)
            # A check that runs alone is to be the only suspect.
            await run.look()
            for check in allowed:
                if check.alone:
                    await run.alone(check)
    if end.expired():
        run.problem = f"the time limit of {limit:g} s is over"
    for check in checks:
        if check.id not in run.results:
            run.finish(skipped(check.id, run.problem))
    return ConformanceRun(
        target=run.target,
        results=tuple(run.results[check.id] for check in checks),
        problem=run.problem,
        suspects=tuple(check.id for check in checks if check.id in run.suspects),
        seconds=time.monotonic() - began,
    )


async def answers(target: Target) -> bool:
    """True if a server answers ApiVersions, at the latest at the third look."""
    for pause in LOOK_AGAIN:
        await asyncio.sleep(pause)
        with suppress(OSError, KwireError, Deviation, TimeoutError):
            async with asyncio.timeout(LOOK_TIMEOUT * target.slowness):
                await answers_api_versions(target)
                return True
    return False


class _ServerDied(Exception):
    """Ends a run: the server answers no more, and cannot be started anew."""


@dataclass(kw_only=True)
class _RunState:
    """A run under way. unseen: checks that ended, and when, since the server was seen to answer.

    in_vain: checks and members that were silent again; beyond MOST_REPEATED none is repeated.
    cluster_id: the server's at the start; a restart may bring another cluster.
    """

    target: Target
    restart: Restart | None
    on_result: OnResult
    results: dict[str, CheckResult] = field(default_factory=dict)
    suspects: list[str] = field(default_factory=list)
    problem: str = ""
    unseen: dict[str, tuple[Check, float]] = field(default_factory=dict)
    in_vain: int = 0
    watch: EpochWatch = field(init=False)
    cluster_id: str | None = field(init=False)

    def __post_init__(self) -> None:
        self.cluster_id = self.target.cluster_id
        self.watch = EpochWatch(target=self.target)

    async def aclose(self) -> None:
        """End what the run itself has open."""
        await self.watch.close()

    def finish(self, result: CheckResult) -> None:
        """Take a result."""
        self.results[result.id] = result
        self.on_result(result)

    def ended(self, check: Check) -> None:
        """Make a check that has just ended a suspect, until the server is seen to answer."""
        self.unseen[check.id] = (check, time.monotonic())

    def refused(self, check: Check, reason: str) -> bool:
        """Finish a check that has a reason not to be run; True if it has."""
        if reason:
            self.finish(skipped(check.id, reason))
        return bool(reason)

    async def run(self, check: Check) -> CheckResult:
        """Run a check."""
        return self.spoils_another(check) or await self.watch.run(check)

    def spoils_another(self, check: Check) -> CheckResult | None:
        """Return SKIPPED for what would spoil a cluster whose id the user did not type."""
        if Need.THROW_AWAY in check.needs and self.target.cluster_id != self.cluster_id:
            return skipped(check.id, OTHER_CLUSTER)
        return None

    async def together(self, checks: Sequence[Check]) -> None:
        """Run checks a few at once; where one is suspect, and no answer comes, let them end."""
        waiting = list(reversed(checks))
        running: dict[asyncio.Task[CheckResult], Check] = {}
        try:
            draining = False
            while waiting or running:
                while waiting and len(running) < TOGETHER and not draining:
                    check = waiting.pop()
                    # 6.
                    running[asyncio.create_task(self.run(check))] = check
                done, _ = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                suspect = draining
                for task in done:
                    check, result = running.pop(task), task.result()
                    self.ended(check)
                    self.finish(result)
                    suspect = suspect or result.is_suspect
                if suspect and not running:
                    await self.look()
                    draining = False
                elif suspect and not draining:
                    draining = not await self.answers_on()
        finally:
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)

    async def alone(self, check: Check) -> None:
        """Run a check, and look whether the server still answers."""
        self.finish(await self.run(check))
        self.ended(check)
        # 7.
        await self.repeat_if_silent(check)
        await self.look()

    async def repeat_silent(self, checks: Sequence[Check]) -> None:
        """Repeat those that failed in silence, a few at once: they do nothing but wait."""
        silent = [check for check in checks if self._silences(check)]
        for start in range(0, len(silent), REPEATED_TOGETHER):
            some = silent[start : start + REPEATED_TOGETHER]
            await asyncio.gather(*map(self.repeat_if_silent, some))

    def _silences(self, check: Check) -> list[str]:
        result = self.results.get(check.id)
        return [part.id for part in result.silences] if result is not None else []

    async def repeat_if_silent(self, check: Check) -> None:
        """Repeat a check that failed in silence, or those members of a family that did.

        It goes on as long as it helps: a server that is slow answers then, a silent one does not.
        """
        result = self.results.get(check.id)
        silent = self._silences(check)
        slowness = self.target.slowness * MORE_PATIENCE
        patient = replace(self.target, slowness=slowness)
        note = f"repeated, with a patience of {PATIENCE * slowness:.3g} s"
        for start in range(0, len(silent), MOST_REPEATED):
            if result is None or self.in_vain >= MOST_REPEATED:
                return
            some = silent[start : start + MOST_REPEATED]
            again = await run_check(check, patient, None if some == [check.id] else some)
            self.in_vain += len(again.silences)
            result = result.repeated(again, note)
            self.ended(check)
            self.finish(result)

    async def answers_on(self) -> bool:
        """True if the server answers; it has not died of what ended before it would have."""
        seen = time.monotonic()
        if not await answers(self.target):
            return False
        self.unseen = {
            id: (check, end) for id, (check, end) in self.unseen.items() if seen - end < DYING
        }
        return True

    async def look(self) -> None:
        """See whether the server answers, and if it does not, find out of which check it died."""
        # 2.
        unseen, self.unseen = [check for check, _ in self.unseen.values()], {}
        if not unseen or await answers(self.target):
            return
        # 3.
        if self.restart is None:
            self._blame(unseen)
        await self._start_anew()
        is_found = False
        for check in unseen:
            self.finish(self.spoils_another(check) or await run_check(check, self.target))
            if not await answers(self.target):
                self._died(check, "repeated alone on a fresh server, it died of it again")
                is_found = True
                await self._start_anew()
        if not is_found:
            # It goes on: whatever it was, the server stands again.
            self.suspects += [check.id for check in unseen]
            what = f"in the course of {len(unseen)} checks, and of none when each was repeated"
            self.problem = self.problem or f"the server died {what}"

    def _blame(self, unseen: Sequence[Check]) -> None:
        if len(unseen) == 1:
            self._died(unseen[0], "not repeated on a fresh server: there is no --restart")
            self.problem = f"the server died of {unseen[0].id}"
        else:
            self.suspects = [check.id for check in unseen]
            self.problem = f"the server died in the course of {len(unseen)} checks"
        raise _ServerDied

    def _died(self, check: Check, reason: str) -> None:
        result = self.results[check.id]
        self.finish(replace(result, answer=ConformanceVerdict.DIED, reason=reason))

    async def _start_anew(self) -> None:
        assert self.restart is not None
        try:
            async with asyncio.timeout(RESTART_LIMIT):
                if moved := await self.restart():
                    self.target = replace(self.target, address=moved)
                while not await answers(self.target):
                    pass
                # A server that keeps nothing has another cluster id, and nodes on other ports.
                old = self.target
                target = await examine_target(old.address, old.security, old.role)
                self.target = replace(target, slowness=max(old.slowness, target.slowness))
                await self.watch.close()
                self.watch = EpochWatch(target=self.target)
        except TimeoutError:
            self.problem = f"the server does not answer {RESTART_LIMIT:g} s after its restart"
            raise _ServerDied from None
        except (OSError, KwireError, Deviation) as error:
            self.problem = f"the server cannot be started anew: {error}"
            raise _ServerDied from None
