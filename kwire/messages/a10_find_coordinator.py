"""FindCoordinator, API key 10."""

from __future__ import annotations

from kwire.codec.declaration import Group, Request, Response
from kwire.codec.notation import array, field, int8, int16, int32, nullable, since, string


class FindCoordinatorRequest(Request, key=10, versions="0-6", flexible="3+", listeners="broker"):
    """A client asks which broker coordinates a group, a transaction or a share partition."""

    key: str = field(string, "0-3")
    key_type: int = since(1, int8)
    coordinator_keys: tuple[str, ...] = since(4, array(string))


class Coordinator(Group):
    key: str = since(4, string)
    node_id: int = since(4, int32)
    host: str = since(4, string)
    port: int = since(4, int32)
    error_code: int = since(4, int16)
    error_message: str | None = since(4, nullable(string), ignorable=True)


class FindCoordinatorResponse(Response, key=10, versions="0-6", flexible="3+"):
    """A broker gives the address of the coordinator that is responsible for each key."""

    throttle_time_ms: int = since(1, int32, ignorable=True)
    error_code: int = field(int16, "0-3")
    error_message: str | None = field(nullable(string), "1-3", ignorable=True)
    node_id: int = field(int32, "0-3")
    host: str = field(string, "0-3")
    port: int = field(int32, "0-3")
    coordinators: list[Coordinator] = since(4, array(Coordinator))
