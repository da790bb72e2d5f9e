"""The recorded requests to send again, in their order, and the answers that each waits for.

A request waits for every answer that had come before it, on whichever connection: it may have been
sent because of that answer, and so comes after it again, however fast the replay is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from kwire.capture import REQUEST, CaptureRecord
from kwire.messages.registry import api_keys
from kwire.proxy.capture.records import events
from kwire.proxy.flows.decoded import DecodedFlow
from kwire.proxy.flows.flow import Flow, Outcome
from kwire.proxy.flows.language import Expression
from kwire.proxy.flows.match_target import MatchTarget
from kwire.proxy.flows.peers import NODE_APIS

_SASL = api_keys("SaslHandshake", "SaslAuthenticate")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayStep:
    """A request to send. connection: the recorded one, by recording and number.

    after: the steps whose answers come first. wait: seconds from the first step's time to its own.
    last: True if it is the last request on its connection.
    """

    flow: Flow
    connection: tuple[str, int]
    after: tuple[int, ...]
    wait: float
    last: bool


@dataclass(slots=True, kw_only=True)
class ReplayPlan:
    """Steps in the order of their times. left_out: reasons not to send requests, with counts."""

    steps: list[ReplayStep] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)


def plan_replay(
    groups: Iterable[list[CaptureRecord]], expression: Expression | None = None
) -> ReplayPlan:
    """Plan the requests in captures; a group has the records of one event.

    expression: selects requests; without it, those that nodes send each other are left out.
    """
    replay_plan = ReplayPlan()
    chosen: list[tuple[Flow, CaptureRecord]] = []
    for group in groups:
        for flow in events(group):
            if not isinstance(flow, Flow):
                continue
            reason = _reason_to_leave_out(flow, group[0], expression)
            if reason is None:
                chosen.append((flow, group[0]))
            elif reason:
                replay_plan.left_out[reason] += 1
    chosen.sort(key=lambda pair: pair[0].at)
    replay_plan.steps = _steps(chosen)
    return replay_plan


def _reason_to_leave_out(
    flow: Flow, record: CaptureRecord, expression: Expression | None
) -> str | None:
    """Return why a request is not sent: empty if it is not selected, None if it is sent."""
    if expression is not None and not expression(MatchTarget.of_flow(DecodedFlow(flow))):
        return ""
    if record.kind != REQUEST or flow.request_copy is None:
        return "not in the capture"
    if flow.key in _SASL:
        return "of authentication"
    if len(flow.request_copy) < flow.request_size:
        return "cut in the capture"
    # A masked password would be set to asterisks.
    if record.redaction is not None:
        return "with secrets or names that are not in the capture"
    if DecodedFlow(flow).request is None:
        return "that cannot be decoded"
    if expression is None and (flow.connection.peer is not None or flow.key in NODE_APIS):
        return "from one node to another, which an expression would have sent"
    return None


def _steps(chosen: list[tuple[Flow, CaptureRecord]]) -> list[ReplayStep]:
    """Give each request the answers that it waits for.

    1. Go through the requests by their time, and through the answers by theirs.
    2. A request waits for the answers since the request before it, which has itself waited for all
       earlier ones.
    """
    answers = sorted(
        (flow.at + flow.latency, number)
        for number, (flow, _) in enumerate(chosen)
        if flow.latency is not None and flow.outcome is Outcome.ANSWERED
    )
    last = {_connection(record): number for number, (_, record) in enumerate(chosen)}
    steps: list[ReplayStep] = []
    passed = 0
    # 1.
    for number, (flow, record) in enumerate(chosen):
        began = passed
        while passed < len(answers) and answers[passed][0] <= flow.at:
            passed += 1
        # 2.
        connection = _connection(record)
        steps.append(
            ReplayStep(
                flow=flow,
                connection=connection,
                after=tuple(number for _, number in answers[began:passed]),
                wait=flow.at - chosen[0][0].at,
                last=last[connection] == number,
            )
        )
    return steps


def _connection(record: CaptureRecord) -> tuple[str, int]:
    return record.capture, record.connection
