"""Breaks of `quorum/kip-853/epochs`."""

from breaking import Break, gives_error
from kwire.messages.a53_begin_quorum_epoch import BeginQuorumEpochRequest
from kwire.messages.a54_end_quorum_epoch import EndQuorumEpochRequest

_BEGUN = gives_error(BeginQuorumEpochRequest, 0)
_ENDED = gives_error(EndQuorumEpochRequest, 0)

BREAKS: dict[int, Break] = {
    **dict.fromkeys((1, 3, 4, 5, 6), _BEGUN),
    **dict.fromkeys((8, 10), _ENDED),
}
