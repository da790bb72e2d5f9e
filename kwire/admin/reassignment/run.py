"""The course of a reassignment: throttle, begin, wait, and take the throttle off whatever happens.

Kafka's tool leaves the throttle until somebody calls it with --verify, and forgets what was set
before. Here it goes with the process that set it, and a process that was killed leaves a journal.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from kwire.admin.driver import Driver
from kwire.admin.errors import ReassignmentChanged, ReassignmentRefused
from kwire.admin.outcomes import Outcomes
from kwire.admin.reassignment.journal import ThrottleJournal
from kwire.admin.reassignment.moving_cluster import MovingCluster
from kwire.admin.reassignment.plan import ReplicaMove
from kwire.admin.reassignment.requests import (
    ThrottleRemoval,
    fetch_moving_cluster,
    remove_throttle,
    set_throttle,
)
from kwire.admin.reassignments import (
    OngoingReassignment,
    alter_partition_reassignments,
    list_partition_reassignments,
)
from kwire.admin.topic_partition import TopicPartition, by_topic
from kwire.errors import ConnectionFailed, KwireError

FIRST_PAUSE, LONGEST_PAUSE = 0.2, 2.0
"""Seconds between two questions how far it is."""

SETTLING = 10.0
"""Seconds that brokers may take to hear from the controller where a partition is."""

PATIENCE = 60.0
"""Seconds without an answer after which waiting is given up: brokers may restart meanwhile."""


class MoveState(Enum):
    """The state of one partition of a reassignment."""

    COMPLETED = "completed"
    MOVING = "moving"


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveProgress:
    """The progress of a reassignment. copies: the replicas that are still to be copied."""

    done: int
    partitions: int
    copies: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """The options of a run.

    rate: bytes/s per broker, None for no throttle. wait: True to return when all has moved.
    """

    rate: int | None = None
    wait: bool = True
    progress: Callable[[MoveProgress], None] = lambda progress: None
    throttle_removed: Callable[[ThrottleRemoval], None] = lambda removal: None


async def run_reassignment(
    driver: Driver,
    journal: ThrottleJournal,
    cluster: MovingCluster,
    targets: Mapping[TopicPartition, Sequence[int]],
    options: RunOptions,
) -> Outcomes[TopicPartition, MoveState]:
    """Move partitions to their targets; return the outcome of each.

    1. Take off a throttle that a process before left over.
    2. Throttle what is to be copied.
    3. Begin the moves, but not those that are under way already, after a first run was killed. One
       that has nothing left to copy is asked for again, which ends it: see `waits_for_nothing`.
    4. Wait until the controller lists none of them.
    5. Take the throttle off: at the end, after an error, and when the run is cancelled; not if it
       is not to wait.
    6. Look where the replicas are.
    """
    # 1.
    options.throttle_removed(await remove_throttle(driver, journal))
    moves = moves_to(cluster, targets)
    live = [node.node_id for node in cluster.layout.brokers.values() if not node.is_fenced]
    keep = False
    try:
        # 2.
        if options.rate is not None:
            await set_throttle(driver, journal, moves, live, options.rate)
        # 3.
        changes = {
            key: list(replicas)
            for key, replicas in targets.items()
            if cluster.layout.partitions[key].replicas != tuple(replicas)
            or cluster.waits_for_nothing(key)
        }
        begun = await alter_partition_reassignments(driver, changes)
        open_keys = [key for key in targets if key not in begun.failed]
        # 4.
        if options.wait:
            await _wait(driver, open_keys, options.progress)
        keep = not options.wait and bool(open_keys)
    finally:
        # 5.
        if not keep:
            options.throttle_removed(await remove_throttle(driver, journal))
    # 6.
    return Outcomes({**await _settled_states(driver, targets, open_keys), **begun.failed})


def moves_to(
    cluster: MovingCluster, targets: Mapping[TopicPartition, Sequence[int]]
) -> list[ReplicaMove]:
    """Return the moves from where the data is now, those under way included."""
    return [
        ReplicaMove(partition=key, old=cluster.replicas[key], new=tuple(replicas))
        for key, replicas in targets.items()
        if cluster.replicas[key] != tuple(replicas)
    ]


def check_targets(
    cluster: MovingCluster,
    targets: Mapping[TopicPartition, Sequence[int]],
    *,
    additional: bool = False,
) -> None:
    """Refuse what could not end. Raises ReassignmentRefused.

    1. A partition that does not exist, a broker that is not registered.
    2. A new replica on a fenced broker, which copies nothing.
    3. Without `additional`, a partition that moves elsewhere already.
    """
    layout = cluster.layout
    # 1.
    if missing := [str(key) for key in targets if key not in layout.partitions]:
        raise ReassignmentRefused(f"the cluster has no partition {', '.join(missing)}")
    layout.known({broker for replicas in targets.values() for broker in replicas})
    # 2.
    layout.targets({b for move in moves_to(cluster, targets) for b in move.adding})
    # 3.
    elsewhere = [
        str(key)
        for key in cluster.ongoing
        if key in targets and cluster.ongoing[key].target != tuple(targets[key])
    ]
    if elsewhere and not additional:
        raise ReassignmentRefused(
            f"{', '.join(elsewhere)} moves elsewhere already: wait, cancel it, or give"
            " `additional=True`"
        )


async def move_states(
    driver: Driver, targets: Mapping[TopicPartition, Sequence[int]]
) -> dict[TopicPartition, MoveState | KwireError]:
    """Return where each partition is on its way, or that it is on another."""
    cluster = await fetch_moving_cluster(driver, list(by_topic(targets)))
    states: dict[TopicPartition, MoveState | KwireError] = {}
    for key, replicas in targets.items():
        target, found = tuple(replicas), cluster.layout.partitions.get(key)
        if found is None:
            states[key] = ReassignmentChanged(f"the cluster has no partition {key}")
        elif found.replicas != target:
            on = ", ".join(map(str, found.replicas))
            target_text = ", ".join(map(str, target))
            verb = "moves to" if key in cluster.ongoing else "is on"
            states[key] = ReassignmentChanged(f"{key} {verb} {on}, not on {target_text}")
        else:
            moving = key in cluster.ongoing
            states[key] = MoveState.MOVING if moving else MoveState.COMPLETED
    return states


async def _settled_states(
    driver: Driver,
    targets: Mapping[TopicPartition, Sequence[int]],
    begun: Collection[TopicPartition],
) -> dict[TopicPartition, MoveState | KwireError]:
    """Return the states; look again while one that was begun seems to be elsewhere."""
    # A broker may hear of the end of a move after the controller has ceased to list it.
    until = time.monotonic() + SETTLING
    while True:
        states = await move_states(driver, targets)
        elsewhere = any(isinstance(states[key], ReassignmentChanged) for key in begun)
        if not elsewhere or time.monotonic() > until:
            return states
        await asyncio.sleep(FIRST_PAUSE)


async def _wait(
    driver: Driver,
    partitions: Collection[TopicPartition],
    progress: Callable[[MoveProgress], None],
) -> None:
    """Return when the controller lists none of these any more."""
    pause = FIRST_PAUSE
    answered = time.monotonic()
    while partitions:
        try:
            ongoing = await list_partition_reassignments(driver, partitions)
        except ConnectionFailed:
            if time.monotonic() - answered > PATIENCE:
                raise
        else:
            answered = time.monotonic()
            progress(_progress(partitions, ongoing))
            if not ongoing:
                return
        await asyncio.sleep(pause)
        pause = min(pause * 1.5, LONGEST_PAUSE)


def _progress(
    partitions: Collection[TopicPartition],
    ongoing: Mapping[TopicPartition, OngoingReassignment],
) -> MoveProgress:
    return MoveProgress(
        done=len(partitions) - len(ongoing),
        partitions=len(partitions),
        copies=sum(len(moving.adding_replicas) for moving in ongoing.values()),
    )
