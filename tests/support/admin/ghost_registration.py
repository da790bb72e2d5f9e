"""The registration of a controller that there is not."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from kwire.messages.a70_controller_registration import (
    ControllerRegistrationRequest,
    ControllerRegistrationResponse,
    Feature,
    Listener,
)
from kwire.net.connection import Connection


async def register_ghost(
    leader: tuple[str, int], node_id: int, features: Mapping[str, tuple[int, int]], *ports: int
) -> None:
    """Register a controller with these features and ports of this host."""
    request = ControllerRegistrationRequest(
        controller_id=node_id,
        incarnation_id=UUID(int=node_id),
        listeners=[Listener(name="CONTROLLER", host="127.0.0.1", port=port) for port in ports],
        features=[
            Feature(name=name, min_supported_version=low, max_supported_version=high)
            for name, (low, high) in features.items()
        ],
    )
    async with await Connection.open(*leader, client_id="test") as connection:
        answer = await connection.send(request)
    assert isinstance(answer, ControllerRegistrationResponse)
    assert answer.error_code == 0, answer
