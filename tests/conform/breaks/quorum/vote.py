"""Breaks of `quorum/kip-853/vote`."""

from breaking import Break, changes, gives_error, sets
from kwire.messages.a52_vote import VoteRequest
from kwire.messages.a55_describe_quorum import DescribeQuorumRequest

_GRANTED = changes(VoteRequest, sets("topics[0].partitions[0].vote_granted", True))
_ANSWERED = gives_error(VoteRequest, 0)
_NEXT_EPOCH = changes(
    DescribeQuorumRequest,
    sets("topics[0].partitions[0].leader_epoch", lambda epoch: epoch + 1),
    only_for=lambda request: request.number > 2,
)

BREAKS: dict[int, Break] = {
    1: _GRANTED,
    2: _ANSWERED,
    3: _GRANTED,
    **dict.fromkeys((4, 5, 6), _ANSWERED),
    7: gives_error(VoteRequest, 125),
    **dict.fromkeys(range(8, 14), _ANSWERED),
    14: _GRANTED,
    16: _NEXT_EPOCH,
}
