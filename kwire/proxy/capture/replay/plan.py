"""Which recorded requests are sent again, in which order, and what each waits for.

A request waits for every answer that had come before it, on whichever connection: what a client
did because of an answer comes behind that answer again, however fast the replay is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from kwire.capture import REQUEST, CaptureRecord
from kwire.proxy.capture.records import events
from kwire.proxy.flows.decoded import DecodedFlow
from kwire.proxy.flows.flow import Ending, Flow
from kwire.proxy.flows.language import Expression
from kwire.proxy.flows.peers import NODE_APIS
from kwire.proxy.flows.subject import Subject

_SASL = frozenset({17, 36})


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A request to send. connection: the recorded one, by recording and number.

    after: the steps whose answers come first. wait: seconds from the first step's time to its own.
    last: whether nothing follows on its connection.
    """

    flow: Flow
    connection: tuple[str, int]
    after: tuple[int, ...]
    wait: float
    last: bool


@dataclass(slots=True, kw_only=True)
class Plan:
    """Steps in the order of their times. left_out: why requests are not sent, and how many."""

    steps: list[Step] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)


def plan(groups: Iterable[list[CaptureRecord]], meant: Expression | None = None) -> Plan:
    """Plan the events of captures, each with its records.

    meant: which of them; without it those that nodes send each other are left out.
    """
    made = Plan()
    chosen: list[tuple[Flow, CaptureRecord]] = []
    for group in groups:
        for flow in events(group):
            if not isinstance(flow, Flow):
                continue
            why = _why_not(flow, group[0], meant)
            if why is None:
                chosen.append((flow, group[0]))
            elif why:
                made.left_out[why] += 1
    chosen.sort(key=lambda one: one[0].at)
    made.steps = _steps(chosen)
    return made


def _why_not(flow: Flow, record: CaptureRecord, meant: Expression | None) -> str | None:
    """Why a request is not sent; nothing where it was not meant, None where it is sent."""
    if meant is not None and not meant(Subject.of_flow(DecodedFlow(flow))):
        return ""
    if record.kind != REQUEST or flow.request_copy is None:
        return "not in the capture"
    if flow.key in _SASL:
        return "of authentication"
    if len(flow.request_copy) < flow.request_size:
        return "cut in the capture"
    if record.redaction is not None:
        return "with secrets or names that are not in the capture"
    if DecodedFlow(flow).request is None:
        return "that cannot be decoded"
    if meant is None and (flow.connection.peer is not None or flow.key in NODE_APIS):
        return "from one node to another, which an expression would have sent"
    return None


def _steps(chosen: list[tuple[Flow, CaptureRecord]]) -> list[Step]:
    """1. Go through requests by their time, beside them through answers by theirs.

    2. A request waits for the answers that were passed since the request before it, which itself
       has waited for all before.
    """
    answers = sorted(
        (flow.at + flow.latency, number)
        for number, (flow, _) in enumerate(chosen)
        if flow.latency is not None and flow.ending is Ending.ANSWERED
    )
    last = {_connection(record): number for number, (_, record) in enumerate(chosen)}
    steps: list[Step] = []
    passed = 0
    for number, (flow, record) in enumerate(chosen):
        began = passed
        while passed < len(answers) and answers[passed][0] <= flow.at:
            passed += 1
        connection = _connection(record)
        steps.append(
            Step(
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
