"""Breaks of `quorum/kip-853/changes`.

None hides from the check's clean-up who votes, or refuses its request: the voter is put back.
"""

from breaking import Break, SeenRequest, changes, gives_error, sets
from kwire.messages.a52_vote import VoteRequest
from kwire.messages.a55_describe_quorum import DescribeQuorumRequest
from kwire.messages.a80_add_raft_voter import AddRaftVoterRequest
from kwire.messages.a81_remove_raft_voter import RemoveRaftVoterRequest

_GRANTED = "topics[0].partitions[0].vote_granted"


def _first(request: SeenRequest) -> bool:
    return request.number == 1


def _before_the_commit(request: SeenRequest) -> bool:
    return request.body is not None and not request.body.ack_when_committed


BREAKS: dict[int, Break] = {
    1: gives_error(RemoveRaftVoterRequest, 127),
    2: changes(DescribeQuorumRequest, sets("topics[0].partitions[0].observers", [])),
    3: gives_error(AddRaftVoterRequest, 104, only_for=_first),
    4: gives_error(AddRaftVoterRequest, 104, only_for=_before_the_commit),
    5: changes(VoteRequest, sets(_GRANTED, True)),
    6: changes(VoteRequest, sets(_GRANTED, False)),
}
