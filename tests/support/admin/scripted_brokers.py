"""Scripted brokers: DescribeCluster, Metadata and FindCoordinator as a cluster answers them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import cast

from kwire.messages import a03_metadata as metadata
from kwire.messages import a10_find_coordinator as coordinator
from kwire.messages import a60_describe_cluster as cluster
from kwire.net.frames import RequestFrame
from scripted_node import ScriptedNode


class ScriptedBrokers:
    """Brokers 0, 1, 2 …; a test may change who leads, coordinates and is the controller.

    leaders: node id by topic and partition. coordinators: node id by group or transactional id;
    a name that is not there gets COORDINATOR_NOT_AVAILABLE.
    """

    def __init__(self, nodes: list[ScriptedNode]) -> None:
        self.nodes = nodes
        self.controller_id = 0
        self.leaders: dict[tuple[str, int], int] = {}
        self.coordinators: dict[str, int] = {}
        for node in nodes:
            node.scripts = {
                cluster.DescribeClusterRequest: self._cluster,
                metadata.MetadataRequest: self._metadata,
                coordinator.FindCoordinatorRequest: self._coordinators,
            }

    @property
    def addresses(self) -> list[str]:
        """`host:port` of every broker."""
        return [node.address for node in self.nodes]

    def _cluster(self, request: RequestFrame) -> cluster.DescribeClusterResponse:
        return cluster.DescribeClusterResponse(
            cluster_id="scripted",
            controller_id=self.controller_id,
            brokers=[
                cluster.DescribeClusterBroker(broker_id=index, host="127.0.0.1", port=node.port)
                for index, node in enumerate(self.nodes)
            ],
        )

    def _metadata(self, request: RequestFrame) -> metadata.MetadataResponse:
        topics = cast(metadata.MetadataRequest, request.body).topics
        known = sorted({topic for topic, _ in self.leaders})
        names = known if topics is None else [topic.name or "" for topic in topics]
        return metadata.MetadataResponse(
            controller_id=self.controller_id,
            brokers=[
                metadata.MetadataResponseBroker(node_id=index, host="127.0.0.1", port=node.port)
                for index, node in enumerate(self.nodes)
            ],
            topics=[self._topic(name) for name in names],
        )

    def _topic(self, name: str) -> metadata.MetadataResponseTopic:
        partitions = [
            metadata.MetadataResponsePartition(partition_index=partition, leader_id=leader)
            for (topic, partition), leader in self.leaders.items()
            if topic == name
        ]
        return metadata.MetadataResponseTopic(
            name=name, error_code=0 if partitions else 3, partitions=partitions
        )

    def _coordinators(self, request: RequestFrame) -> coordinator.FindCoordinatorResponse:
        keys = cast(coordinator.FindCoordinatorRequest, request.body).coordinator_keys
        return coordinator.FindCoordinatorResponse(
            coordinators=[self._coordinator(key) for key in keys]
        )

    def _coordinator(self, key: str) -> coordinator.Coordinator:
        node_id = self.coordinators.get(key, -1)
        if node_id < 0:
            return coordinator.Coordinator(key=key, error_code=15)
        port = self.nodes[node_id].port
        return coordinator.Coordinator(key=key, node_id=node_id, host="127.0.0.1", port=port)


@asynccontextmanager
async def scripted_brokers(count: int) -> AsyncIterator[ScriptedBrokers]:
    """Run so many brokers; broker 0 is the controller."""
    async with AsyncExitStack() as stack:
        yield ScriptedBrokers(
            [await stack.enter_async_context(ScriptedNode()) for _ in range(count)]
        )
