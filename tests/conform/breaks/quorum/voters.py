"""Breaks of `quorum/kip-853/voters`."""

from breaking import Break, gives_error
from kwire.messages.a80_add_raft_voter import AddRaftVoterRequest
from kwire.messages.a81_remove_raft_voter import RemoveRaftVoterRequest

_ADDED, _REMOVED = gives_error(AddRaftVoterRequest, 0), gives_error(RemoveRaftVoterRequest, 0)

BREAKS: dict[int, Break] = {
    **dict.fromkeys(range(1, 12), _ADDED),
    **dict.fromkeys(range(13, 17), _REMOVED),
    17: _ADDED,
    18: _REMOVED,
}
