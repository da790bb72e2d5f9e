"""The answers of nodes that run as a source: the leader that each of them knows."""

from __future__ import annotations

from collections.abc import Iterator

from kwire.doctor.evidence import Evidence, NodeEvidence
from kwire.quorum_story.story import StoryEvent, StoryKind, StorySource


def asked_nodes(evidence: Evidence, now: int) -> list[StorySource]:
    """Return a source for each node that was asked. now: milliseconds since 1970."""
    return [_asked(node, now) for node in evidence.nodes]


def _asked(node: NodeEvidence, now: int) -> StorySource:
    name = str(node.address)
    problems = [f"{name} gave no answer: {node.failure}"] if node.failure else []
    problems += [f"{name} did not answer {api}: {why}" for api, why in node.refusals.items()]
    return StorySource(
        name=name,
        events=tuple(_events(node, now)),
        node_ids=() if node.node_id is None else (node.node_id,),
        first_time=now,
        last_time=now,
        is_log_file=False,
        problem=" ".join(problems),
    )


def _events(node: NodeEvidence, now: int) -> Iterator[StoryEvent]:
    kind, leader = StoryKind.NO_LEADER, None
    if node.quorum is not None:
        kind, epoch, leader = StoryKind.LEADS, node.quorum.leader_epoch, node.quorum.leader_id
        sentence = f"leads in epoch {epoch}"
    elif node.follows is not None:
        epoch, leader = node.follows.epoch, node.follows.leader_id
        sentence = f"knows no leader in epoch {epoch}"
        if leader is not None and node.lacks_metadata:
            # Restarted, it names the leader of its quorum-state, reached or not.
            sentence = f"names {leader} in epoch {epoch}; it has read no metadata since it started"
            leader = None
        elif leader is not None:
            kind, sentence = StoryKind.FOLLOWS, f"follows {leader} in epoch {epoch}"
    else:
        return
    yield StoryEvent(
        kind=kind,
        source=str(node.address),
        place=f"{node.address} answered",
        sentence=sentence,
        time=now,
        node_id=node.node_id,
        epoch=epoch,
        leader_id=leader,
        text=sentence,
        may_be_older=True,
    )
