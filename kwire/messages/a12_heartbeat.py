"""Heartbeat, API key 12."""

from __future__ import annotations

from kwire.codec.declaration import Request, Response
from kwire.codec.notation import int16, int32, nullable, since, string


class HeartbeatRequest(Request, key=12, versions="0-4", flexible="4+", listeners="broker"):
    """A member of a classic group shows that it is alive and learns of rebalances."""

    group_id: str = string
    generation_id: int = int32
    member_id: str = string
    group_instance_id: str | None = since(3, nullable(string), default=None)


class HeartbeatResponse(Response, key=12, versions="0-4", flexible="4+"):
    """The coordinator confirms the member, or tells it to rejoin."""

    throttle_time_ms: int = since(1, int32, ignorable=True)
    error_code: int = int16
