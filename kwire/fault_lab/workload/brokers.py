"""A client of brokers: finds leaders and coordinators, and asks them through the faulty network."""

from __future__ import annotations

from typing import TypeVar

from kwire.codec.declaration import Request, Response
from kwire.error_codes import ErrorCode
from kwire.errors import BrokerError, ConnectionFailed
from kwire.fault_lab.session import ANSWER, WorkloadClient
from kwire.messages.a03_metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from kwire.messages.a10_find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse

R = TypeVar("R", bound=Response)

GROUP, TRANSACTION = 0, 1


class BrokerClient:
    """Asks the leader of a partition, or the coordinator of a key, as the brokers name them."""

    def __init__(self, client: WorkloadClient) -> None:
        self.client = client
        self._leaders: dict[tuple[str, int], int] = {}
        self._coordinators: dict[tuple[int, str], int] = {}

    async def ask_leader(
        self,
        kind: type[R],
        request: Request,
        topic: str,
        partition: int,
        version: int | None = None,
        within: float = ANSWER,
    ) -> R:
        """Ask the leader of a partition. Raises KwireError; the leader is looked for anew then."""
        node = await self.leader(topic, partition)
        self.client.node = node
        try:
            return await self.client.ask(kind, request, node, version=version, within=within)
        except BaseException:
            self.forget(topic, partition)
            raise

    async def leader(self, topic: str, partition: int) -> int:
        """Return the id of a partition's leader. Raises KwireError if no broker names one."""
        known = self._leaders.get((topic, partition))
        if known is not None:
            return known
        request = MetadataRequest(
            topics=[MetadataRequestTopic(name=topic)], allow_auto_topic_creation=False
        )
        node = self.client.any_node()
        answer = await self.client.ask(MetadataResponse, request, node)
        for found in answer.topics:
            for item in found.partitions:
                if item.leader_id >= 0:
                    self._leaders[topic, item.partition_index] = item.leader_id
        if (topic, partition) not in self._leaders:
            raise ConnectionFailed(f"no broker names a leader of {topic}-{partition}")
        return self._leaders[topic, partition]

    def forget(self, topic: str, partition: int) -> None:
        """Look for the leader of a partition anew."""
        self._leaders.pop((topic, partition), None)

    async def ask_coordinator(
        self, kind: type[R], request: Request, key: str, type: int, version: int | None = None
    ) -> R:
        """Ask the coordinator of a group or a transactional id. Raises KwireError."""
        node = await self._coordinator(key, type)
        self.client.node = node
        try:
            return await self.client.ask(kind, request, node, version=version)
        except BaseException:
            self.forget_coordinator(key, type)
            raise

    async def _coordinator(self, key: str, type: int) -> int:
        known = self._coordinators.get((type, key))
        if known is not None:
            return known
        request = FindCoordinatorRequest(key_type=type, coordinator_keys=(key,))
        node = self.client.any_node()
        answer = await self.client.ask(FindCoordinatorResponse, request, node)
        (found,) = answer.coordinators
        if found.error_code != ErrorCode.NONE:
            raise BrokerError(found.error_code, f"no coordinator of {key}")
        self._coordinators[type, key] = found.node_id
        return found.node_id

    def forget_coordinator(self, key: str, type: int) -> None:
        """Look for a coordinator anew."""
        self._coordinators.pop((type, key), None)
