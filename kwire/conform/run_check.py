"""Runs one check on connections of its own, and gives both verdicts.

1. What the server has not, or the user has not allowed, is SKIPPED.
2. The check ends by itself, or at its time limit; then its connection is looked at.
3. Whatever the end was, a cancelled run's too, what the check created is removed.
4. Where only Apache Kafka's code has the sentence, the server DIFFERS: it may answer otherwise, and
   end the connection, but not in silence, and not with what is no answer.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection, Coroutine
from dataclasses import replace
from typing import Any

from kwire.conform.check import Check, Run
from kwire.conform.expectation import reaction_text
from kwire.conform.reaction import ConnectionState
from kwire.conform.result import CheckResult, of_family, skipped
from kwire.conform.server import Server
from kwire.conform.target import Target
from kwire.conform.vocabulary import (
    BrokenAnswer,
    ConformanceVerdict,
    Deviation,
    Informed,
    Need,
    OutOfTime,
    ServerRole,
    Skipped,
)
from kwire.errors import EncodeError, KwireError, UnsupportedVersion

CHECK_LIMIT = 60.0
"""Seconds for one check, or one member of a family."""

PASS, DIFFERS, FAIL = (ConformanceVerdict.PASS, ConformanceVerdict.DIFFERS, ConformanceVerdict.FAIL)


def why_not_run(check: Check, target: Target) -> str:
    """Return why a server has not what a check needs; empty if it has it."""
    needs = check.needs
    if check.role not in (ServerRole.ANY, target.role):
        return f"it is for a {check.role.value}, and this is a {target.role.value}"
    if Need.TWO_VOTERS in needs and len(target.voters) < 2:
        return f"it needs a quorum of two voters or more, and this has {len(target.voters)}"
    if Need.EMPTY in needs and target.topics != 0:
        return f"it needs a cluster without topics, and this has {target.topics}"
    if Need.SASL in needs and target.security.sasl is None:
        return "it needs a listener with SASL and credentials for it"
    if Need.TLS in needs and target.security.tls is None:
        return "it needs a listener with TLS"
    return ""


async def run_check(
    check: Check, target: Target, only: Collection[str] | None = None
) -> CheckResult:
    """Run a check, or each member of a family, as many at once as the check says.

    only: ids of members, which are run one by one; None for all.
    """
    # 1.
    if reason := why_not_run(check, target):
        return skipped(check.id, reason)
    if check.members is None:
        return await _run(check.id, check.run, target, check.source.is_habit)
    try:
        members = tuple(check.members(Server(target)))
    except Skipped as end:
        return skipped(check.id, str(end))
    if only is not None:
        members = tuple(member for member in members if f"{check.id}/{member.id}" in only)
    gate = asyncio.Semaphore(check.together if only is None else 1)

    async def run_member(member_id: str, run: Run) -> CheckResult:
        async with gate:
            return await _run(f"{check.id}/{member_id}", run, target, check.source.is_habit)

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(run_member(member.id, member.run)) for member in members]
    return of_family(check.id, [task.result() for task in tasks])


async def _run(check_id: str, run: Run, target: Target, is_habit: bool) -> CheckResult:
    server = Server(target)
    began = time.monotonic()
    try:
        # 2.
        result = await _outcome(check_id, run, server, is_habit)
        state = await server.probe()
    finally:
        # 3.
        await _to_its_end(server.close())
    allowed = state is ConnectionState.OPEN or state in server.allowed_ends
    ended = DIFFERS if is_habit and state.ended else FAIL
    # 4.
    answer, end = result.answer, PASS if allowed else ended
    if target.as_java:
        answer, end = (FAIL if verdict is DIFFERS else verdict for verdict in (answer, end))
    return replace(
        result,
        answer=answer,
        connection=state,
        connection_verdict=end,
        left_behind=tuple(server.left_behind),
        seconds=time.monotonic() - began,
        chunks=tuple(server.transcript.chunks),
    )


async def _to_its_end(work: Coroutine[Any, Any, None]) -> None:
    """Await work that a cancelled run waits for, too: what is shielded only would be orphaned."""
    task = asyncio.create_task(work)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await task
        raise


async def _outcome(check_id: str, run: Run, server: Server, is_habit: bool) -> CheckResult:
    """Run it, and make a verdict of any end that it has: no server may end a run by its answers."""
    result = CheckResult(id=check_id, answer=PASS)
    seconds = CHECK_LIMIT * server.target.slowness
    limit = asyncio.timeout(seconds)
    try:
        async with limit:
            await run(server)
    except Deviation as end:
        # 4.
        differs = is_habit and end.verdict is FAIL and not isinstance(end, BrokenAnswer)
        verdict = DIFFERS if differs else end.verdict
        late = isinstance(end, OutOfTime)
        return replace(
            result, answer=verdict, expected=end.expected, came=end.came, out_of_time=late
        )
    except Skipped as end:
        return skipped(check_id, str(end))
    except Informed as end:
        return replace(result, answer=ConformanceVerdict.INFO, reason=str(end))
    except (UnsupportedVersion, EncodeError) as error:
        # A request of the check's own that this server does not take.
        return skipped(check_id, str(error))
    except (OSError, KwireError) as error:
        if limit.expired():
            expected = f"an end within {seconds:.3g} s"
            return replace(result, answer=FAIL, expected=expected, came="no end", out_of_time=True)
        late = isinstance(error, TimeoutError)
        came = "nobody answers in time" if late else str(error) or type(error).__name__
        return replace(result, answer=FAIL, expected="a connection", came=came, out_of_time=late)
    except Exception as error:
        last = server.transcript.last_answer
        # What a coroutine lacks in an iterator comes out of it as a RuntimeError.
        if isinstance(error.__cause__ or error, LookupError | StopIteration) and last is not None:
            came = (
                f"{reaction_text(last)}, which lacks some of it ({type(error).__name__}: {error})"
            )
            return replace(result, answer=FAIL, expected="an answer with all asked for", came=came)
        came = f"an answer on which the check fails: {type(error).__name__}: {error}"
        return replace(result, answer=FAIL, expected="an answer that can be judged", came=came)
    return result
