"""What follows when a leader's high watermark may have risen."""

from __future__ import annotations

from kwire.controller.raft.effects import BecomeLeader
from kwire.controller.raft.replica import Replica
from kwire.controller.raft.roles import Leader
from kwire.error_codes import ErrorCode


def advance(replica: Replica, leader: Leader) -> None:
    """Count again.

    1. The first time in an epoch the state machine may write.
    2. Everything below the high watermark may be applied.
    3. A voter change behind its VotersRecord is answered, and the next one may come.
    4. A leader that was removed resigns, now that the others agree.
    """
    is_first = leader.high_watermark is None
    leader.set_local_end(replica.flushed)
    if not leader.advance() or leader.high_watermark is None:
        return
    if is_first:
        start = leader.epoch_start_offset
        replica.emit(BecomeLeader(epoch=leader.epoch, epoch_start_offset=start))
    replica.commit(leader.high_watermark)
    change = leader.change
    if change and change.offset is not None and change.offset < leader.high_watermark:
        replica.emit(*change.answer(ErrorCode.NONE))
        leader.change = None
    if not replica.may_stand:
        leader.resign_requested = True
