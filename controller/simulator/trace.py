"""A history that people can read: one line for each thing that happened."""

from __future__ import annotations

from collections.abc import Callable

from controller.raft import (
    AppendLog,
    BecomeLeader,
    Commit,
    Effect,
    Event,
    InstallSnapshot,
    LogFlushed,
    PersistElection,
    ResignLeader,
    TruncateLog,
)
from controller.simulator.machine import Machine
from controller.simulator.scheduler import START
from kwire.declaration import Request, Response

_TOLD = (
    "replica_id",
    "replica_epoch",
    "current_leader_epoch",
    "fetch_offset",
    "last_fetched_epoch",
    "leader_epoch",
    "leader_id",
    "last_offset",
    "last_offset_epoch",
    "pre_vote",
    "vote_granted",
    "high_watermark",
    "end_offset",
    "epoch",
    "error_code",
    "voter_id",
    "position",
)


class Trace:
    """The lines, newest last; `keep` of them at most."""

    def __init__(self, now: Callable[[], int], keep: int = 200_000) -> None:
        self.lines: list[str] = []
        self._now, self._keep = now, keep

    def say(self, who: str, text: str) -> None:
        """One line."""
        self.lines.append(f"{self._now() - START:>7} ms  {who:<4} {text}")
        del self.lines[: -self._keep]

    def step(self, machine: Machine, event: Event, effects: list[Effect]) -> None:
        """What a replica did; its messages have lines of their own."""
        raft = machine.running
        state = f"{raft.role}@{raft.epoch} end {raft.end_offset} hw {raft.high_watermark}"
        did = [text for effect in effects if (text := _effect(effect))]
        if did or isinstance(event, LogFlushed):
            self.say(machine.name, f"[{state}] {', '.join(did) or 'flushed'}")

    def message(self, source: int, target: int, message: Request | Response, fate: str) -> None:
        """A request or response on its way; node 0 is an admin."""
        fate = f" {fate.upper()}" if fate else ""
        name = type(message).__name__
        told = " ".join(_fields(message))
        self.say(f"n{source}", f"-> n{target} {name} {told}{fate}")


def _effect(effect: Effect) -> str | None:
    match effect:
        case PersistElection(data=data):
            return f"quorum-state epoch {data.leader_epoch} leader {data.leader_id}" + (
                f" vote {data.voted_id}" if data.voted_id >= 0 else ""
            )
        case AppendLog(end_offset=end):
            return f"append to {end}"
        case TruncateLog(offset=offset):
            return f"TRUNCATE to {offset}"
        case InstallSnapshot(id=id):
            return f"install snapshot at {id}"
        case Commit(high_watermark=high_watermark):
            return f"commit {high_watermark}"
        case BecomeLeader(epoch=epoch):
            return f"may write in {epoch}"
        case ResignLeader():
            return "leads no more"
    return None


def _fields(message: object) -> list[str]:
    """The scalars that say most, from the message and from the partition in it."""
    found = []
    for part in (message, *_nested(message)):
        for name in _TOLD:
            value = getattr(part, name, None)
            if isinstance(value, int) and value not in (-1, False):
                found.append(f"{name}={value}")
    return found


def _nested(message: object) -> list[object]:
    topics = getattr(message, "topics", None) or getattr(message, "responses", None) or []
    partitions = [partition for topic in topics for partition in topic.partitions]
    inner = ("diverging_epoch", "snapshot_id")
    values = [getattr(partition, name, None) for partition in partitions for name in inner]
    return [*partitions, *(value for value in values if value is not None)]
