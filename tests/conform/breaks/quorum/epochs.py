"""Breaks of `quorum/kip-853/epochs`."""

from breaking import Break, changes, gives_error, sets
from kwire.messages.a53_begin_quorum_epoch import BeginQuorumEpochRequest
from kwire.messages.a54_end_quorum_epoch import EndQuorumEpochRequest

_BEGUN = gives_error(BeginQuorumEpochRequest, 0)
_ENDED = gives_error(EndQuorumEpochRequest, 0)

BREAKS: dict[int, Break] = {
    **dict.fromkeys(range(1, 7), _BEGUN),
    7: changes(BeginQuorumEpochRequest, sets("topics[0].partitions[0].leader_id", -1)),
    **dict.fromkeys((8, 9, 10), _ENDED),
}
