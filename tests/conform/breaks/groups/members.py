"""Breaks of `groups/members`."""

from breaking import Break, changes, gives_error, sets
from kwire.messages.a12_heartbeat import HeartbeatRequest
from kwire.messages.a13_leave_group import LeaveGroupRequest
from kwire.messages.a14_sync_group import SyncGroupRequest

_NOTHING_ASSIGNED = changes(SyncGroupRequest, sets("assignment", b""))
_SYNC_ACCEPTED = gives_error(SyncGroupRequest, 0)
_HEARTBEAT_ACCEPTED = gives_error(HeartbeatRequest, 0)
_LEAVE_ACCEPTED = gives_error(LeaveGroupRequest, 0)

BREAKS: dict[int, Break] = {
    1: changes(SyncGroupRequest, sets("assignment", b"first")),
    3: _NOTHING_ASSIGNED,
    **dict.fromkeys((4, 5, 6, 7, 13), _SYNC_ACCEPTED),
    **dict.fromkeys((8, 9, 12, 14), _HEARTBEAT_ACCEPTED),
    16: _LEAVE_ACCEPTED,
    17: gives_error(HeartbeatRequest, 22),
    18: _HEARTBEAT_ACCEPTED,
}
