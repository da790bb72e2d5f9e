"""The state of a migration as lines that fit a width, for `kwire migration status` and `watch`."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from kwire.cli.findings import COLOURS, LOUD
from kwire.cli.wrapping import wrapped_command
from kwire.text.untrusted import harmless

if TYPE_CHECKING:
    from kwire.doctor.finding import Finding
    from kwire.migration.operator.facts import KRaftFacts, ZooKeeperFacts
    from kwire.migration.operator.readiness import BrokerReadiness, ControllerReadiness
    from kwire.migration.operator.status import MigrationStatus

LABEL = 11
"""Columns of the labels on the left."""

BELOW = "not seen, as told below"
"""The place of a side whose finding says why it was not seen."""

LEAST = 28
"""Columns that a text has beside what it belongs to; if there are fewer, it stands below."""

BELOW_INDENT = 4


class StyledLine(NamedTuple):
    """A line and its style: a colour's name, `bold`, `dim`, or nothing."""

    text: str
    style: str = ""


def status_lines(status: MigrationStatus, width: int) -> Iterator[StyledLine]:
    """Yield everything that is known, the most important first."""
    yield from _wrapped(status.sentence, width, style="bold")
    yield StyledLine("")
    facts = status.facts
    yield from _labelled("KRaft", [*_kraft(facts.kraft, facts.no_kraft)], width)
    yield from _labelled("ZooKeeper", [*_zookeeper(facts.zookeeper, facts.no_zookeeper)], width)
    if facts.kraft is not None:
        yield from _labelled("Driver", [*_driver(status)], width)
    if status.lag is not None:
        records = "1 record" if status.lag == 1 else f"{status.lag} records"
        yield from _labelled("Behind", [records], width)
    yield from _nodes("Controllers", [*map(_controller, status.controllers)], width)
    yield from _nodes("Brokers", [*map(_broker, status.brokers)], width)
    yield from finding_lines(status.findings, width)
    yield from _way_back(status, width)


def _kraft(kraft: KRaftFacts | None, reason: str) -> Iterator[str]:
    from kwire.migration.operator.facts import state_name

    if kraft is None:
        yield BELOW if reason else "not asked: give --bootstrap-controller"
        return
    led = f"led by {kraft.leader_id} in epoch {kraft.epoch}"
    yield f"{state_name(kraft.state)}, {led if kraft.leader_id >= 0 else 'nobody leads'}"
    if kraft.image is not None:
        yield f"metadata.version {_version(kraft)}, records up to {kraft.end - 1}"
    if kraft.no_image and kraft.image is not None:  # else a finding says so
        yield f"metadata log: {kraft.no_image}"
    yield from kraft.silent


def _version(kraft: KRaftFacts) -> str:
    from kwire.messages.metadata_versions import NAMES

    assert kraft.image is not None
    level = kraft.image.features.metadata_version.level
    return NAMES.get(level, str(level))


def _zookeeper(zookeeper: ZooKeeperFacts | None, reason: str) -> Iterator[str]:
    if zookeeper is None:
        yield BELOW if reason else "not asked: give --zookeeper"
        return
    epoch = zookeeper.controller_epoch
    shown = f", /controller_epoch {epoch}" if epoch is not None else ""
    yield f"/controller: {zookeeper.controller or 'nobody'}{shown}"
    position = zookeeper.migration
    if position is None:
        yield "/migration: not there"
    elif not position.is_copied:
        yield "/migration: nothing was copied"
    else:
        yield (
            f"/migration: record {position.kraft_metadata_offset}, by"
            f" {position.kraft_controller_id} in epoch {position.kraft_controller_epoch}"
        )


def _driver(status: MigrationStatus) -> Iterator[str]:
    driver = status.driver
    yield f"{driver.state or 'not known'}: {driver.reason}"
    if driver.waits_for:
        yield f"waits for {driver.waits_for}"


class _ReadinessLine(NamedTuple):
    name: str
    word: str
    reason: str
    style: str


_WORDS = {True: "ready", False: "NOT READY", None: "-"}
_STYLES = {True: "", False: "yellow", None: ""}
_MODES = {"zookeeper": "migration mode", "kraft": "KRaft", "none": ""}


def _controller(item: ControllerReadiness) -> _ReadinessLine:
    return _ReadinessLine(
        str(item.node_id), _WORDS[item.is_ready], item.reason, _STYLES[item.is_ready]
    )


def _broker(item: BrokerReadiness) -> _ReadinessLine:
    mode = "" if item.mode is None else _MODES[item.mode]
    if item.mode is None and item.in_zookeeper:
        mode = "in /brokers/ids"
    reason = "; ".join(text for text in (mode, item.reason) if text)
    return _ReadinessLine(str(item.node_id), _WORDS[item.is_ready], reason, _STYLES[item.is_ready])


def _nodes(title: str, nodes: Sequence[_ReadinessLine], width: int) -> Iterator[StyledLine]:
    if not nodes:
        return
    yield StyledLine("")
    yield StyledLine(title, "bold")
    names, words = (max(len(node[index]) for node in nodes) for index in (0, 1))
    for node in nodes:
        start = f"  {node.name:{names}}  {node.word:{words}}  "
        yield from _wrapped(node.reason, width, first=start, indent=len(start), style=node.style)


def _way_back(status: MigrationStatus, width: int) -> Iterator[StyledLine]:
    yield StyledLine("")
    yield StyledLine("Way back", "bold")
    yield from _wrapped(status.way_back.sentence, width, indent=2, first="  ")
    for number, step in enumerate(status.way_back.steps, 1):
        start = f"  {number}. "
        yield from _wrapped(step.sentence, width, first=start, indent=len(start))
        if step.command:
            yield from _command(harmless(step.command), width)


def finding_lines(findings: Sequence[Finding], width: int) -> Iterator[StyledLine]:
    """Yield findings with their evidence and advice."""
    if findings:
        yield StyledLine("")
    for finding in findings:
        verdict = finding.verdict.value
        word = verdict.upper() if verdict in LOUD else verdict
        style = COLOURS.get(verdict, "red")
        yield from _wrapped(finding.sentence, width, first=f"{word}: ", indent=2, style=style)
        for text in finding.evidence:
            yield from _wrapped(text, width, first="  - ", indent=4)
        if finding.advice:
            yield from _wrapped(finding.advice, width, first="  > ", indent=4, style="dim")


def _labelled(label: str, texts: Sequence[str], width: int) -> Iterator[StyledLine]:
    for number, text in enumerate(texts):
        start = f"{'' if number else label:{LABEL}}"
        yield from _wrapped(text, width, first=start, indent=LABEL)


def _command(command: str, width: int) -> Iterator[StyledLine]:
    indent = " " * 5
    for line in wrapped_command(command, width - len(indent)):
        yield StyledLine(f"{indent}{line}", "cyan")


def _wrapped(
    text: str, width: int, *, first: str = "", indent: int = 0, style: str = ""
) -> Iterator[StyledLine]:
    """Yield a text behind `first`, its further lines behind `indent` spaces.

    It begins below `first` if only few columns are left beside it.
    """
    if text and indent > BELOW_INDENT and width - indent < LEAST:
        if first.strip():
            yield StyledLine(first.rstrip(), style)
        first, indent = " " * BELOW_INDENT, BELOW_INDENT
    room = max(width - indent, 1)
    lines = textwrap.wrap(
        first + _breakable(harmless(text), room) if text else first.rstrip(),
        indent + room,
        subsequent_indent=" " * indent,
        break_on_hyphens=False,
    )
    yield from (StyledLine(line, style) for line in lines or [first.rstrip()])


def _breakable(text: str, room: int) -> str:
    """Return a text in which words that fit no line are divided, after a dot or the like."""
    return " ".join(_divided(word, room) if len(word) > room else word for word in text.split(" "))


def _divided(word: str, room: int) -> str:
    lines = [""]
    for piece in re.findall(r"[^.,=/]*[.,=/]|[^.,=/]+", word):
        if lines[-1] and len(lines[-1]) + len(piece) > room:
            lines.append("")
        lines[-1] += piece
    return " ".join(lines)
