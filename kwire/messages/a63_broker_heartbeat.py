"""BrokerHeartbeat, API key 63."""

from __future__ import annotations

from uuid import UUID

from kwire.codec.declaration import Request, Response
from kwire.codec.notation import array, boolean, field, int16, int32, int64, nullable, tagged, uuid


class BrokerHeartbeatRequest(
    Request, key=63, versions="0-2", flexible="0+", listeners="controller"
):
    """A broker shows the controller that it is alive and what state it wants (KIP-631)."""

    broker_id: int = int32
    broker_epoch: int = field(int64, default=-1)
    current_metadata_offset: int = int64
    want_fence: bool = boolean
    want_shut_down: bool = boolean
    offline_log_dirs: tuple[UUID, ...] = tagged(0, array(uuid), "1+")
    cordoned_log_dirs: tuple[UUID, ...] | None = tagged(
        1, nullable(array(uuid)), "2+", default=None
    )


class BrokerHeartbeatResponse(Response, key=63, versions="0-2", flexible="0+"):
    """The controller says whether a broker is fenced and whether it may stop (KIP-631)."""

    throttle_time_ms: int = int32
    error_code: int = int16
    is_caught_up: bool = boolean
    is_fenced: bool = field(boolean, default=True)
    should_shut_down: bool = boolean
