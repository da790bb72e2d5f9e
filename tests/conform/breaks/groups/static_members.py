"""Breaks of `groups/kip-345`."""

from breaking import Break, SeenRequest, changes, gives_error, sets
from kwire.messages.a11_join_group import JoinGroupRequest
from kwire.messages.a12_heartbeat import HeartbeatRequest
from kwire.messages.a13_leave_group import LeaveGroupRequest
from kwire.messages.a14_sync_group import SyncGroupRequest

_HEARTBEAT_ACCEPTED = gives_error(HeartbeatRequest, 0)
_joined: set[str] = set()


def _again(request: SeenRequest) -> bool:
    """Return True if a member of the group has joined before; every member is a connection."""
    group = request.body.group_id
    known = group in _joined
    _joined.add(group)
    return known


BREAKS: dict[int, Break] = {
    1: gives_error(JoinGroupRequest, 79),
    2: changes(JoinGroupRequest, sets("generation_id", lambda g: g + 1), only_for=_again),
    3: changes(SyncGroupRequest, sets("assignment", b"")),
    4: _HEARTBEAT_ACCEPTED,
    5: _HEARTBEAT_ACCEPTED,
    6: gives_error(LeaveGroupRequest, 25),
    7: gives_error(LeaveGroupRequest, 0),
}
