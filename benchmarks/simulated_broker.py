"""A broker that only registers and sends heartbeats, for a controller to have work."""

from __future__ import annotations

from typing import Self
from uuid import UUID, uuid4

from kwire.messages.a18_api_versions import ApiVersionsResponse
from kwire.messages.a60_describe_cluster import DescribeClusterRequest, DescribeClusterResponse
from kwire.messages.a62_broker_registration import (
    BrokerRegistrationRequest,
    BrokerRegistrationResponse,
    Feature,
    Listener,
)
from kwire.messages.a63_broker_heartbeat import BrokerHeartbeatRequest, BrokerHeartbeatResponse
from kwire.net.connection import Connection
from kwire.net.negotiation import api_versions_request


class SimulatedBroker:
    """One broker on a connection of its own; `open` returns when it is unfenced."""

    def __init__(self, broker_id: int, connection: Connection) -> None:
        self.broker_id = broker_id
        self.connection = connection
        self.epoch = -1

    @classmethod
    async def open(cls, broker_id: int, host: str, port: int) -> Self:
        """Connect, register, be unfenced."""
        broker = cls(broker_id, await Connection.open(host, port))
        await broker._register()
        while (await broker.beat()).is_fenced:
            pass
        return broker

    async def _register(self) -> None:
        features = await self.connection.send(api_versions_request(), 4)
        assert isinstance(features, ApiVersionsResponse)
        cluster = await self.connection.send(DescribeClusterRequest(endpoint_type=2))
        assert isinstance(cluster, DescribeClusterResponse)
        listener = Listener(
            name="PLAINTEXT", host="127.0.0.1", port=20000 + self.broker_id, security_protocol=0
        )
        request = BrokerRegistrationRequest(
            broker_id=self.broker_id,
            cluster_id=cluster.cluster_id,
            incarnation_id=uuid4(),
            listeners=[listener],
            features=[
                Feature(
                    name=one.name,
                    min_supported_version=one.min_version,
                    max_supported_version=one.max_version,
                )
                for one in features.supported_features
            ],
            rack=None,
            log_dirs=(UUID(int=(5 << 64) + self.broker_id),),
        )
        registered = await self.connection.send(request)
        assert isinstance(registered, BrokerRegistrationResponse)
        assert registered.error_code == 0, registered.error_code
        self.epoch = registered.broker_epoch

    async def beat(self) -> BrokerHeartbeatResponse:
        """One heartbeat of a broker that has read everything."""
        request = BrokerHeartbeatRequest(
            broker_id=self.broker_id,
            broker_epoch=self.epoch,
            current_metadata_offset=self.epoch + 1_000_000_000,
        )
        answer = await self.connection.send(request)
        assert isinstance(answer, BrokerHeartbeatResponse)
        assert answer.error_code == 0, answer.error_code
        return answer

    async def close(self) -> None:
        """Disconnect; its session ends by itself."""
        await self.connection.close()
