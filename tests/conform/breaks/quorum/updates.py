"""Breaks of `quorum/kip-853/updates`."""

from breaking import Break, gives_error
from kwire.messages.a82_update_raft_voter import UpdateRaftVoterRequest

_UPDATED = gives_error(UpdateRaftVoterRequest, 0)

BREAKS: dict[int, Break] = {
    **dict.fromkeys((1, 3), _UPDATED),
    **dict.fromkeys(range(5, 11), _UPDATED),
}
