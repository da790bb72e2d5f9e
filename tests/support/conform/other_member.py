"""Tells a group's first member from the others, for breaks that concern the others only."""

from breaking import SeenRequest

_first: dict[str, str] = {}


def other_member(request: SeenRequest) -> bool:
    """Return True for a request of another member than the group's first that was seen."""
    body = request.body
    return bool(_first.setdefault(body.group_id, body.member_id) != body.member_id)
