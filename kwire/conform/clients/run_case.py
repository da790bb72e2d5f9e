"""Runs one case: a cluster of its own, the client's program, and the verdict.

1. The cluster is arranged, and the client does its task at it.
2. A rule that had nothing to answer makes the case SKIPPED: the client never came so far.
3. Every case demands, beside its own sentence: the client ends, or is ended by its own time-outs;
   what it sends can be read and was offered; what it says is written is in the log.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Protocol

from kwire.conform.clients.case import RECORDS, VALUES, ClientCase, ClientTask
from kwire.conform.clients.cluster import NODES, Cluster
from kwire.conform.clients.node import ClientNodes
from kwire.conform.clients.play import UNSUPPORTED, Play, ProgramEnd, SeenClientRequest
from kwire.conform.clients.program import run_program
from kwire.conform.clients.script import Script, ScriptRule
from kwire.conform.result import CheckResult, skipped
from kwire.conform.transcript import KEPT, Chunk
from kwire.conform.vocabulary import ConformanceVerdict, Deviation, Informed, ServerRole, Skipped
from kwire.messages.registry import api_name
from kwire.net.address import Address

CLIENT_LIMIT = 60.0
"""Seconds that a client has for a case by default: with its own time-outs it has to end before."""

ANY_PORTS = (0,) * len(NODES)
_GONE = 2.0
"""Seconds without a connection after which a client that was started by hand is gone."""
_SHOWN = 40
"""Requests and answers that a report keeps the bytes of: the last."""


class ClientUnderTest(Protocol):
    """A client that does tasks. together: cases at once. ports: of the nodes, 0 for any."""

    together: int
    ports: tuple[int, ...]

    async def do(self, case: ClientCase, nodes: ClientNodes, patience: float) -> ProgramEnd | None:
        """Let it do a case's task; None if it has no process to look at.

        patience: the factor by which its time grows. Raises ProgramNotStarted.
        """
        ...


@dataclass(slots=True, kw_only=True)
class ClientProgram:
    """A client that a command starts, once a case. limit: seconds that it has for one."""

    words: Sequence[str]
    limit: float = CLIENT_LIMIT
    environment: dict[str, str] = field(default_factory=dict)
    together: int = 4
    ports: tuple[int, ...] = ANY_PORTS

    async def do(self, case: ClientCase, nodes: ClientNodes, patience: float) -> ProgramEnd:
        """Start it, and wait for its end."""
        values = {
            "{bootstrap}": str(nodes.addresses[NODES[0]]),
            "{task}": case.task.value,
            "{topic}": topic_of(case),
            "{group}": group_of(case),
            "{records}": str(RECORDS),
        }
        words = [_filled(word, values) for word in self.words]
        limit = self.limit * patience
        return await run_program(
            words, limit=limit, environment={**self.environment, **case.environment}
        )


@dataclass(slots=True, kw_only=True)
class ClientByHand:
    """A client that somebody starts for each case. announce: tells them to, and the limit.

    The case is over when it has closed its connections, or after `limit` seconds.
    """

    announce: Callable[[ClientCase, Address, float], None]
    limit: float = 600.0
    together: int = 1
    ports: tuple[int, ...] = ANY_PORTS

    async def do(self, case: ClientCase, nodes: ClientNodes, patience: float) -> None:
        """Say that it is its turn, and wait until it has come and gone."""
        self.ports = tuple(address.port for address in nodes.addresses.values())
        self.announce(case, nodes.addresses[NODES[0]], self.limit)
        with suppress(TimeoutError):
            async with asyncio.timeout(self.limit):
                await nodes.deserted(_GONE)


def _filled(word: str, values: dict[str, str]) -> str:
    for name, value in values.items():
        word = word.replace(name, value)
    return word


def topic_of(case: ClientCase) -> str:
    """Return the name of a case's topic."""
    return f"topic-{case.id.replace('/', '-')}"


def group_of(case: ClientCase) -> str:
    """Return the name of a case's group, which is the transactional id, too."""
    return f"group-{case.id.replace('/', '-')}"


def cluster_of(case: ClientCase, nodes: ClientNodes) -> Cluster:
    """Return the cluster that a case begins with."""
    is_controller = case.task is ClientTask.CONTROLLERS
    role = ServerRole.CONTROLLER if is_controller else ServerRole.BROKER
    cluster = Cluster(addresses=dict(nodes.addresses), role=role)
    if case.task is not ClientTask.ADMIN and not is_controller:
        cluster.create(topic_of(case))
    if case.task.reads:
        cluster.fill(topic_of(case), VALUES)
    case.arrange(cluster)
    return cluster


async def run_case(
    case: ClientCase, client: ClientUnderTest, usual: Play | None, patience: float = 1.0
) -> tuple[Play, CheckResult]:
    """Let the client do a case's task, and judge it. Raises ProgramNotStarted.

    usual: its play of the task without faults. patience: the factor by which its time grows.
    """
    async with ClientNodes(ports=client.ports, tls=case.tls) as nodes:
        cluster = cluster_of(case, nodes)
        play = Play(cluster=cluster, usual=usual)
        rules = list(case.rules())
        nodes.begin(play, Script(cluster, rules))
        # 1.
        play.program = await client.do(case, nodes, patience)
        play.seconds = nodes.now
    return play, judge_play(case, play, rules)


def judge_play(case: ClientCase, play: Play, rules: Sequence[ScriptRule]) -> CheckResult:
    """Return the verdict on a play that is over."""
    verdict = ConformanceVerdict.PASS
    result = CheckResult(
        id=case.id, answer=verdict, seconds=play.seconds, chunks=tuple(_chunks(play.requests))
    )
    is_habit = False
    try:
        if play.error is not None:
            raise Skipped(f"kwire failed with {type(play.error).__name__}: {play.error}")
        _demand_support(play)
        # 2.
        for rule in rules:
            if not rule.acted and not rule.is_aid:
                raise Skipped(f"the client sent no {_rule_text(rule)}")
        # 3.
        for demand in ALWAYS:
            demand(play)
        is_habit = case.source.is_habit
        if not case.may_fail and play.program is not None:
            play.demand_end()
        case.judge(play)
    except Deviation as end:
        # A habit of Java's client binds nobody; what every case demands is none.
        is_differing = is_habit and end.verdict is ConformanceVerdict.FAIL
        verdict = ConformanceVerdict.DIFFERS if is_differing else end.verdict
        return replace(result, answer=verdict, expected=end.expected, came=end.came)
    except Skipped as end:
        return replace(skipped(case.id, str(end)), seconds=play.seconds, chunks=result.chunks)
    except Informed as end:
        return replace(result, answer=ConformanceVerdict.INFO, reason=str(end))
    return result


def _demand_support(play: Play) -> None:
    program = play.program
    if program is not None and program.exit_code == UNSUPPORTED:
        told = [line for line in program.lines if line.startswith("unsupported")]
        reason = told[0].removeprefix("unsupported").strip(" :") if told else ""
        raise Skipped(f"the client cannot do it{f': {reason}' if reason else ''}")


def _rule_text(rule: ScriptRule) -> str:
    name = api_name(rule.api.key or 0) if rule.api else "request"
    before = f" after the first {rule.after}" if rule.after else ""
    return f"{name}{before} that this is about"


def _ends(play: Play) -> None:
    """Demand that the client did not hang."""
    program = play.program
    if program is not None and program.exit_code is None:
        raise Deviation(f"an end within {program.seconds:.0f} s", play.end_text)


def _sends_what_is_offered(play: Play) -> None:
    """Demand that each request can be read and was offered."""
    for request in play.requests:
        if request.problem:
            raise Deviation(
                "requests that can be read, in versions that are offered",
                f"{request.name}: {request.problem}",
            )


def _acknowledges_what_is_written(play: Play) -> None:
    """Demand that what the client says is written is in the log."""
    acknowledged = [rest for word, rest in play.words if word == "acknowledged"]
    written = play.cluster.values()
    for value in acknowledged:
        if value not in written:
            raise Deviation(
                "whatever is acknowledged is written",
                f"{value} is acknowledged, and the log has {', '.join(written) or 'nothing'}",
            )


ALWAYS: tuple[Callable[[Play], None], ...] = (
    _ends,
    _sends_what_is_offered,
    _acknowledges_what_is_written,
)


def _chunks(requests: Sequence[SeenClientRequest]) -> list[Chunk]:
    """Return requests and answers as a report has them: what the client sent came to kwire."""
    chunks = []
    for request in requests[-_SHOWN:]:
        peer = f"node {request.node_id}, connection {request.connection}"
        for data, sent in ((request.frame, False), (request.reply, True)):
            if data:
                chunks.append(Chunk(sent=sent, peer=peer, data=data[:KEPT], size=len(data)))
    return chunks
