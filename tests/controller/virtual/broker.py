"""A broker that only registers and is unfenced, so that partitions have a place."""

from __future__ import annotations

from uuid import UUID

from kwire.messages.a18_api_versions import ApiVersionsResponse
from kwire.messages.a62_broker_registration import (
    BrokerRegistrationRequest,
    BrokerRegistrationResponse,
    Feature,
    Listener,
)
from kwire.messages.a63_broker_heartbeat import BrokerHeartbeatRequest, BrokerHeartbeatResponse
from kwire.net.connection import Connection
from kwire.net.negotiation import api_versions_request

BROKER = 1
BEATS = 3
"""The answer to the heartbeat that unfences a broker still calls it fenced."""

BEYOND = 1_000_000
"""Above every offset of a simulated log: the broker has read everything."""


async def register(cluster_id: str, port: int) -> bool:
    """Register at the node of a port; return True if the broker is unfenced there."""
    async with await Connection.open("127.0.0.1", port) as connection:
        features = await connection.send(api_versions_request(), 4)
        assert isinstance(features, ApiVersionsResponse)
        answer = await connection.send(_registration(cluster_id, features))
        assert isinstance(answer, BrokerRegistrationResponse)
        if answer.error_code:
            return False
        beat = BrokerHeartbeatRequest(
            broker_id=BROKER, broker_epoch=answer.broker_epoch, current_metadata_offset=BEYOND
        )
        for _ in range(BEATS):
            alive = await connection.send(beat)
            assert isinstance(alive, BrokerHeartbeatResponse)
            if not alive.error_code and not alive.is_fenced:
                return True
    return False


def _registration(cluster_id: str, features: ApiVersionsResponse) -> BrokerRegistrationRequest:
    return BrokerRegistrationRequest(
        broker_id=BROKER,
        cluster_id=cluster_id,
        incarnation_id=UUID(int=7 << 64),
        listeners=[
            Listener(name="PLAINTEXT", host="127.0.0.1", port=9000, security_protocol=0),
        ],
        features=[
            Feature(
                name=one.name,
                min_supported_version=one.min_version,
                max_supported_version=one.max_version,
            )
            for one in features.supported_features
        ],
        rack=None,
        log_dirs=(UUID(int=9 << 64),),
    )
