"""Breaks of `quorum/kip-853/updates`."""

from breaking import Break, changes, gives_error, sets
from kwire.messages.a82_update_raft_voter import UpdateRaftVoterRequest

_UPDATED = gives_error(UpdateRaftVoterRequest, 0)

BREAKS: dict[int, Break] = {
    **dict.fromkeys((1, 2, 3), _UPDATED),
    4: changes(UpdateRaftVoterRequest, sets("current_leader", None)),
    **dict.fromkeys(range(5, 11), _UPDATED),
}
