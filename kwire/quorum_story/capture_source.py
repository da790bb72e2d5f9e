"""A recording of the proxy as a source: votes, leaders that announce themselves, and refusals."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from kwire.capture import Damage
from kwire.capture.reading import captures_at, read_capture
from kwire.errors import KwireError
from kwire.messages.a52_vote import VoteRequest
from kwire.messages.a53_begin_quorum_epoch import BeginQuorumEpochRequest
from kwire.messages.a54_end_quorum_epoch import EndQuorumEpochRequest
from kwire.proxy import DecodedFlow, Flow
from kwire.proxy.capture.records import events
from kwire.quorum_story.causes import CAUSES
from kwire.quorum_story.event_list import EventList
from kwire.quorum_story.story import StoryEvent, StoryKind, StorySource

QUORUM_KEYS = {1, 52, 53, 54, 59, 80, 81, 82}
"""Fetch, Vote, Begin- and EndQuorumEpoch, FetchSnapshot, and the changes of voters."""

_BY_CODE = {code: cause for cause in CAUSES for code in cause.codes}


def recording(path: Path) -> StorySource:
    """Return what a capture tells, or a directory of captures.

    What cannot be read is the source's problem, with what was read besides.
    """
    kept = EventList()
    times: list[int] = []
    problems: list[str] = []
    try:
        files = captures_at([path])
        if not files:
            problems.append(f"there is no capture in {path}.")
        for file in files:
            for event in events(read_capture(file)):
                if isinstance(event, Damage):
                    problems.append(f"{event}.")
                elif isinstance(event, Flow):
                    times.append(round(event.at * 1000))
                    if event.key in QUORUM_KEYS:
                        for found in _events(DecodedFlow(event), str(path)):
                            kept.keep(found)
    except (KwireError, OSError) as error:
        problems.append(f"{path} cannot be read to its end: {error}")
    return StorySource(
        name=str(path),
        events=tuple(kept.events),
        first_time=min(times, default=None),
        last_time=max(times, default=None),
        is_log_file=False,
        problem=" ".join(problems),
    )


def _events(flow: DecodedFlow, source: str) -> Iterator[StoryEvent]:
    if (vote := flow.request_as(VoteRequest)) is not None:
        for topic in vote.topics:
            for asked in topic.partitions:
                word = "prospective" if asked.pre_vote else "candidate"
                sentence = f"is {word} in epoch {asked.replica_epoch}"
                kind = StoryKind.SEEKS_VOTES
                yield _event(flow, source, kind, sentence, asked.replica_id, asked.replica_epoch)
    if (begun := flow.request_as(BeginQuorumEpochRequest)) is not None:
        for begun_topic in begun.topics:
            for led in begun_topic.partitions:
                sentence = f"leads in epoch {led.leader_epoch}"
                yield _event(
                    flow, source, StoryKind.LEADS, sentence, led.leader_id, led.leader_epoch
                )
    if (ended := flow.request_as(EndQuorumEpochRequest)) is not None:
        for ended_topic in ended.topics:
            for left in ended_topic.partitions:
                sentence = f"resigned in epoch {left.leader_epoch}"
                yield _event(
                    flow, source, StoryKind.RESIGNED, sentence, left.leader_id, left.leader_epoch
                )
    yield from _refusals(flow, source)


def _refusals(flow: DecodedFlow, source: str) -> Iterator[StoryEvent]:
    node = flow.node if flow.node is not None else flow.flow.connection.peer
    details = {"address": flow.flow.connection.upstream}
    if (vote := flow.request_as(VoteRequest)) is not None and vote.voter_id >= 0:
        details["voter"] = str(vote.voter_id)
    for name in flow.errors:
        if (cause := _BY_CODE.get(name)) is not None:
            yield StoryEvent(
                kind=StoryKind.CAUSE,
                source=source,
                place=_place(flow, source),
                sentence="",
                time=round(flow.flow.at * 1000),
                node_id=node,
                cause=cause,
                details=details,
                text=f"{flow.flow.api}: {name}",
            )


def _event(
    flow: DecodedFlow, source: str, kind: StoryKind, sentence: str, node_id: int, epoch: int
) -> StoryEvent:
    return StoryEvent(
        kind=kind,
        source=source,
        place=_place(flow, source),
        sentence=sentence,
        time=round(flow.flow.at * 1000),
        node_id=node_id,
        epoch=epoch,
        leader_id=node_id if kind is StoryKind.LEADS else None,
        text=flow.flow.api,
    )


def _place(flow: DecodedFlow, source: str) -> str:
    """Return where a flow is: its API and correlation id, which `capture show` prints, too."""
    rpc = flow.flow
    return f"{source}: {rpc.api} {rpc.correlation_id} of {rpc.connection.client}"
