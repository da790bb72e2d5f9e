"""Topics and groups as Kafka's tools describe them, without what is each cluster's own."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from tests.support.controller.live.tool_runner import LATE, UNKNOWN_CLASS, ToolProcess, comparable
from tests.support.controller.live.tool_step import CONFIGS, TOOLS

Descriptions = Sequence[tuple[str, list[str]]]
"""Command lines of tools, and the lines of their output."""

Masks = Sequence[tuple[re.Pattern[str], str]]
"""Patterns of what is each cluster's own, and what stands for it."""

_OWN: Masks = (
    (re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"), "<uuid>"),
    (re.compile(r"\bLeader: \d Replicas: \d,\d Isr: [\d,]+"), "two replicas"),
    (re.compile(r"\bEpoch: \d+$"), "Epoch: <n>"),
    (re.compile(r"<address> \(\d\)"), "<address>"),
    (re.compile(r"/127\.0\.0\.1\b"), "<host>"),
    (re.compile(r"\b(Stable|Empty) \d+ \d+ "), r"\1 <epochs> "),
    (re.compile(r"\b\d+( \d <id> streams) \d+ "), r"<epoch>\1 <epoch> "),
)
"""Names of members, random placements of replicas and groups, epochs of groups, which
rebalances raise."""


def cluster_steps(topics: Iterable[str]) -> Iterator[str]:
    """Yield the command lines that describe the features, all topics, and the settings of some."""
    yield "FeatureCommand describe"
    yield "TopicCommand --describe"
    for topic in topics:
        yield f"{CONFIGS} --describe --all --entity-type topics --entity-name {topic}"


def described(
    tools: ToolProcess, servers: str, steps: Iterable[str], masks: Masks = ()
) -> Descriptions:
    """Run tools, one after the other.

    steps: a class, below org.apache.kafka.tools if it is not kafka.*, and its words.
    """
    found = []
    for step in steps:
        tool, *words = step.split()
        main = tool if tool.startswith("kafka.") else TOOLS + tool
        outcome = tools.run(main, "--bootstrap-server", servers, *words)
        assert outcome.code not in (LATE, UNKNOWN_CLASS), step
        found.append((step, [_masked(line, [*_OWN, *masks]) for line in comparable(outcome)]))
    return found


def different(ours: Descriptions, theirs: Descriptions) -> dict[str, tuple[list[str], list[str]]]:
    """Return the lines that only one side has, ours and theirs, by the command line."""
    found = {}
    for (step, lines), (_, others) in zip(ours, theirs, strict=True):
        if lines != others:
            ours_only, theirs_only = (
                Counter(lines) - Counter(others),
                Counter(others) - Counter(lines),
            )
            found[step] = (list(ours_only.elements()), list(theirs_only.elements()))
    return found


def _masked(line: str, masks: Masks) -> str:
    for pattern, name in masks:
        line = pattern.sub(name, line)
    return line
