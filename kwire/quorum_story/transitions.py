"""Transitions of a replica as the raft client and the controller log them (Java: QuorumState)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from kwire.quorum_story.log_entry import LogEntry
from kwire.quorum_story.story import StoryKind

_TRANSITION = re.compile(r"Completed transition to (\w+?)(?:State)?\((.*)", re.DOTALL)
_EPOCH = re.compile(r"\bepoch=(\d{1,10})\b")
_LEADER = re.compile(r"\bleader(?:Id)?=(\d{1,10})\b")
_BEFORE = re.compile(r"\) from (\w+?)(?:State)?\((.*)", re.DOTALL)
_NEW_EPOCH = re.compile(r"[Ii]n the new epoch (\d{1,10}), the leader is (\d{1,10}|\(none\))")
_ACTIVE = re.compile(r"Becoming the active controller at epoch (\d{1,10})")
_VOTER_SET = re.compile(
    r"(?:Starting voters are|Latest set of voters is|Updated in-memory voters from .* to)"
    r" (?:Optional\[)?VoterSet\(voters=\{(.*)"
)
_VOTER = re.compile(r"\b(\d{1,10})=VoterNode\(")

_KINDS = {
    "Leader": StoryKind.LEADS,
    "Follower": StoryKind.FOLLOWS,
    "Candidate": StoryKind.SEEKS_VOTES,
    "Prospective": StoryKind.SEEKS_VOTES,
    "Unattached": StoryKind.NO_LEADER,
    "Voted": StoryKind.NO_LEADER,
    "Resigned": StoryKind.RESIGNED,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedTransition:
    """A replica's new state. is_echo: said by the controller, after the raft client."""

    kind: StoryKind
    epoch: int
    leader_id: int | None
    sentence: str
    is_echo: bool = False


def transition(entry: LogEntry) -> LoggedTransition | None:
    """Return the transition that an entry tells; None if it tells none."""
    text = entry.text
    if match := _TRANSITION.search(text):
        return _of_state(match[1], match[2].partition(") from ")[0], entry.node_id)
    if match := _ACTIVE.search(text):
        return _led(int(match[1]), entry.node_id, is_echo=True)
    if match := _NEW_EPOCH.search(text):
        epoch = int(match[1])
        if match[2] == "(none)":
            return LoggedTransition(
                kind=StoryKind.NO_LEADER,
                epoch=epoch,
                leader_id=None,
                sentence=f"knows no leader in epoch {epoch}",
                is_echo=True,
            )
        leader = int(match[2])
        if leader == entry.node_id:
            return _led(epoch, leader, is_echo=True)
        return _followed(epoch, leader, is_echo=True)
    return None


def state_before(entry: LogEntry) -> LoggedTransition | None:
    """Return the state that a transition left, if it was one with a leader."""
    if "Completed transition to" not in entry.text:
        return None
    match = _BEFORE.search(entry.text)
    found = _of_state(match[1], match[2], entry.node_id) if match else None
    return found if found is not None and found.leader_id is not None else None


def voters_of(text: str) -> tuple[int, ...]:
    """Return the voters that an entry names; () if it names none."""
    match = _VOTER_SET.search(text)
    return tuple(sorted({int(id) for id in _VOTER.findall(match[1])})) if match else ()


def _of_state(name: str, values: str, node_id: int | None) -> LoggedTransition | None:
    kind, epoch = _KINDS.get(name), _EPOCH.search(values)
    if kind is None or epoch is None:
        return None
    number = int(epoch[1])
    if kind is StoryKind.LEADS:
        return _led(number, node_id)
    if kind is StoryKind.FOLLOWS and (leader := _LEADER.search(values)):
        return _followed(number, int(leader[1]))
    sentences = {
        StoryKind.SEEKS_VOTES: f"is {name.lower()} in epoch {number}",
        StoryKind.NO_LEADER: f"knows no leader in epoch {number}",
        StoryKind.RESIGNED: f"resigned in epoch {number}",
    }
    sentence = sentences.get(kind, f"follows in epoch {number}")
    return LoggedTransition(kind=kind, epoch=number, leader_id=None, sentence=sentence)


def _led(epoch: int, node_id: int | None, *, is_echo: bool = False) -> LoggedTransition:
    return LoggedTransition(
        kind=StoryKind.LEADS,
        epoch=epoch,
        leader_id=node_id,
        sentence=f"leads in epoch {epoch}",
        is_echo=is_echo,
    )


def _followed(epoch: int, leader: int, *, is_echo: bool = False) -> LoggedTransition:
    return LoggedTransition(
        kind=StoryKind.FOLLOWS,
        epoch=epoch,
        leader_id=leader,
        sentence=f"follows {leader} in epoch {epoch}",
        is_echo=is_echo,
    )
