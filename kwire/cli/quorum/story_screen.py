"""A story on a screen, and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import typer

from kwire.cli.output import Output, OutputForm
from kwire.cli.wrapping import has_room, wrapped
from kwire.text.times import moment
from kwire.text.untrusted import harmless

if TYPE_CHECKING:
    from kwire.quorum_story.story import CauseSummary, Story, StoryAnswer, StoryEvent

COLOURS = {True: "green", False: "red", None: "magenta"}
"""By an answer: good, not good, not known."""


def show_story(output: Output, story: Story) -> None:
    """Print a story in the form that was chosen."""
    is_wide = output.form is OutputForm.WIDE
    output.show_document(_document(story), lambda: _draw(story, is_wide=is_wide))


def print_event(event: StoryEvent, *, as_json: bool) -> None:
    """Print one event of a log that is followed: a line, or a JSON object a line."""
    if as_json:
        typer.echo(json.dumps(_event(event)))
        return
    for line in _event_lines(event):
        typer.echo(line)


def _document(story: Story) -> dict[str, Any]:
    return {
        "answers": [_answer(answer) for answer in story.answers],
        "leaders": [
            {
                "epoch": reign.epoch,
                "leaderId": reign.leader_id,
                "began": _time(reign.began, dated=reign.evidence[0].dated),
                "evidence": reign.evidence[0].place,
                "endedBy": [_event(event) for event in reign.ended_by],
            }
            for reign in story.reigns
        ],
        "causes": [_cause(summary) for summary in story.causes],
        "events": [_event(event) for event in story.events],
        "notUnderstood": [_event(event) for event in story.not_understood],
        "notKnown": list(story.notes),
        "sources": [
            {
                "name": source.name,
                "nodeIds": list(source.node_ids),
                "from": _time(source.first_time, dated=source.dated),
                "to": _time(source.last_time, dated=source.dated),
                "problem": source.problem or None,
            }
            for source in story.sources
        ],
    }


def _answer(answer: StoryAnswer) -> dict[str, Any]:
    return {
        "question": answer.question,
        "nodeId": answer.node_id,
        "good": answer.good,
        "sentence": answer.sentence,
        "causes": list(answer.causes),
        "evidence": [event.place for event in answer.evidence],
    }


def _cause(summary: CauseSummary) -> dict[str, Any]:
    return {
        "id": summary.cause.id,
        "times": summary.times,
        "nodeIds": list(summary.node_ids),
        "meaning": summary.meaning,
        "evidence": summary.first.place,
        "text": summary.first.text,
        "fixes": [{"when": each.when or None, "steps": list(each.steps)} for each in summary.fixes],
    }


def _event(event: StoryEvent) -> dict[str, Any]:
    from kwire.quorum_story.wording import meaning

    return {
        "time": _time(event.time, dated=event.dated),
        "nodeId": event.node_id,
        "kind": event.kind.value,
        "epoch": event.epoch,
        "leaderId": event.leader_id,
        "cause": event.cause_id,
        "sentence": meaning(event),
        "times": event.times,
        "lastTime": _time(event.last_time, dated=event.dated),
        "evidence": event.place,
        "text": harmless(event.text),
    }


def _time(time: int | None, *, dated: bool) -> str | None:
    """Return a time in ISO 8601, without a date if the source has none."""
    value = None if time is None else moment(time / 1000)
    if value is None:
        return None
    text = value.isoformat(timespec="milliseconds").removesuffix("+00:00")
    return text if dated else text.partition("T")[2]


def _draw(story: Story, *, is_wide: bool) -> None:
    from kwire.quorum_story.story import StoryKind

    routine = (StoryKind.FOLLOWS, StoryKind.SEEKS_VOTES, StoryKind.NO_LEADER)
    events = [e for e in story.events if is_wide or e.kind not in routine or e.may_be_older]
    for answer in story.answers:
        for line in wrapped(harmless(answer.sentence), 0):
            typer.secho(line, fg=COLOURS[answer.good])
    left_out = len(story.events) - len(events)
    title = f"The story ({left_out} more of followers and candidates by -o wide)"
    _section(title if left_out else "The story", (n for e in events for n in _event_lines(e)))
    _section("Causes and remedies", _cause_lines(story.causes))
    _section("Not known", (f"- {harmless(note)}" for note in story.notes))


def _section(title: str, lines: Iterator[str]) -> None:
    for number, line in enumerate(lines):
        if not number:
            typer.echo()
            typer.secho(title, bold=True)
        typer.echo(line)


def _event_lines(event: StoryEvent) -> Iterator[str]:
    from kwire.quorum_story.story import StoryKind
    from kwire.quorum_story.wording import meaning, time_text, who

    head = f"{time_text(event.time, dated=event.dated)}  {harmless(who(event)):>5}  "
    text = meaning(event)
    if event.cause is not None:
        text = f"{event.cause.id}: {text}"
    if event.kind is StoryKind.NOT_UNDERSTOOD:
        text = f"not understood: {text}"
    if event.times > 1 and event.kind in (StoryKind.CAUSE, StoryKind.NOT_UNDERSTOOD):
        text += f" ({event.times} times, last {time_text(event.last_time, dated=event.dated)})"
    indent = len(head) if has_room(len(head)) else 2
    first, *rest = wrapped(text, indent)
    yield f"{head}{first}"
    yield from (f"{' ' * indent}{line}" for line in rest)
    yield typer.style(f"{' ' * indent}- {harmless(event.place)}", dim=True)


def _cause_lines(causes: Sequence[CauseSummary]) -> Iterator[str]:
    for summary in causes:
        times = "once" if summary.times == 1 else f"{summary.times} times"
        # A record is written by a quorum, a log by a node that may not say which it is.
        nodes = ", ".join(map(str, summary.node_ids)) or "not known"
        is_of_node = summary.node_ids or "{node}" in summary.cause.meaning
        by = f", controller {nodes}" if is_of_node else ""
        yield f"{summary.cause.id}  {times}{by}"
        for line in wrapped(summary.meaning, 2):
            yield f"  {line}"
        yield typer.style(f"  - {harmless(summary.first.place)}", dim=True)
        for line in wrapped(harmless(summary.first.text), 4):
            yield typer.style(f"    {line}", dim=True)
        for each in summary.fixes:
            if each.when:
                yield f"  {each.when}:"
            yield from (f"  > {step}" for step in each.steps)
