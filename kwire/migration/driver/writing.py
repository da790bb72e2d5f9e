"""The steps of a write to ZooKeeper, as part of an operation of the driver."""

from __future__ import annotations

from collections.abc import Iterable

from kwire.errors import KwireError
from kwire.migration.driver.driver_core import DriverCore, QuorumLeader, Steps
from kwire.migration.driver.effects import ReadTree, WriteZooKeeper
from kwire.migration.driver.fence import FENCES, FencedOff, after_write, check_fences, fenced
from kwire.migration.driver.znode_write import ZnodeWrite
from kwire.zookeeper import MultiFailed, ZnodeOperation

MOST_ATTEMPTS = 1000
"""Refusals of one write after which it is given up; each of its operations may be refused once."""


class LeadershipLost(KwireError):
    """This controller leads the quorum no more: another one goes on with the migration."""


class CopyFailed(KwireError):
    """A part of the copy is in the log, and no more of it can be written."""


def write_all(core: DriverCore, leader: QuorumLeader, writes: Iterable[ZnodeWrite]) -> Steps:
    """Carry out writes, one after the other; log those that were left out. Raises as `write`."""
    for whole in writes:
        if whole.is_left_out:
            core.error(whole.description)
            continue
        for part in whole.parts():
            yield from write(core, leader, part)


def write(core: DriverCore, leader: QuorumLeader, change: ZnodeWrite) -> Steps:
    """Carry out one write, as ZnodeWrite says.

    1. Delete what is below a znode that has to go.
    2. Carry out the operations behind both fences and notify the brokers, or what takes the place
       of refused ones.

    Raises FencedOff, LeadershipLost, the refusal of an operation, or an error of the session.
    """
    for _ in range(MOST_ATTEMPTS):
        # 1.
        if change.tree is not None:
            paths = yield ReadTree(path=change.tree)
            for part in change.emptied(paths):
                yield from write(core, leader, part)
            return
        # 2.
        try:
            yield from _write_fenced(core, leader, (*change.operations, *change.notifications))
        except MultiFailed as refusal:
            if refusal.index < FENCES:
                raise
            instead = change.after_refusal(refusal.index - FENCES, refusal.error)
            if instead is None:
                raise
            change = instead
            continue
        return
    raise FencedOff(f"gave up after {MOST_ATTEMPTS} refusals: {change.description}")


def note_offset(core: DriverCore, leader: QuorumLeader) -> Steps:
    """Put the state, with the offset that ZooKeeper has reached, into /migration."""
    yield from _write_fenced(core, leader, ())


def _write_fenced(
    core: DriverCore, leader: QuorumLeader, operations: tuple[ZnodeOperation, ...]
) -> Steps:
    _check_leads(core, leader)
    try:
        results = yield WriteZooKeeper(operations=fenced(operations, core.leadership))
    except MultiFailed as refusal:
        check_fences(refusal)
        raise
    core.leadership = after_write(core.leadership, results)


def _check_leads(core: DriverCore, leader: QuorumLeader) -> None:
    """Raise LeadershipLost once another leader is known: ZooKeeper would refuse its claim's rival,
    but only after the rival's claim."""
    if core.leader != leader:
        raise LeadershipLost("another controller leads the quorum")
