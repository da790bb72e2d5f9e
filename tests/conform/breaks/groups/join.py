"""Breaks of `groups/join`."""

from breaking import Break, changes, gives_error, sets
from kwire.messages.a11_join_group import JoinGroupRequest

_API = JoinGroupRequest
_ACCEPTED = gives_error(_API, 0)
_NO_MEMBERS = changes(_API, sets("members", []))

BREAKS: dict[int, Break] = {
    **dict.fromkeys((1, 2, 5, 6, 7, 13, 14), _ACCEPTED),
    3: gives_error(_API, 25),
    8: gives_error(_API, 79),
    9: changes(_API, sets("member_id", "other"), only_for=lambda r: bool(r.body.member_id)),
    12: _NO_MEMBERS,
}
