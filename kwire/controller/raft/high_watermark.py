"""The consequences of a leader's high watermark (KIP-853 "High watermark"; Java:
KafkaRaftClient.onUpdateLeaderHighWatermark)."""

from __future__ import annotations

from kwire.controller.raft.effects import BecomeLeader
from kwire.controller.raft.quorum_events import HighWatermarkEstablished
from kwire.controller.raft.replica import Replica
from kwire.controller.raft.roles import Leader


def advance_high_watermark(replica: Replica, leader: Leader) -> None:
    """Count the voters' offsets again and act on a high watermark that rose.

    1. The first time in an epoch the state machine may write.
    2. Everything below the high watermark may be applied.
    3. A voter change whose VotersRecord is committed is answered, and the next one may come: step
       10 of `rpc.add_raft_voter`, step 7 of `rpc.remove_raft_voter`.
    4. A leader that was removed resigns, now that the others agree: step 8 of
       `rpc.remove_raft_voter`.
    """
    is_first = leader.high_watermark is None
    # Only what is flushed counts: the leader may lose the rest, as any voter may.
    leader.update_local_end(replica.flushed)
    if not leader.advance_high_watermark() or leader.high_watermark is None:
        return
    # 1.
    if is_first:
        start = leader.epoch_start_offset
        replica.emit(
            HighWatermarkEstablished(epoch=leader.epoch, high_watermark=leader.high_watermark),
            BecomeLeader(epoch=leader.epoch, epoch_start_offset=start),
        )
    # 2.
    replica.commit(leader.high_watermark)
    # 3.
    change = leader.voter_change
    if change and change.offset is not None and change.offset < leader.high_watermark:
        replica.emit(*change.commit())
        leader.voter_change = None
    # 4.
    if not replica.may_become_candidate:
        leader.resign_reason = "it was removed from the voters"
