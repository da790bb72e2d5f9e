"""The addresses of partition leaders, coordinators and nodes, looked up for many keys at once.

What was found is remembered until a node answers that it is not the one any more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import cast

from kwire.admin.deadline import Deadline
from kwire.admin.errors import NodeNotFound, refusal
from kwire.admin.registry import Route
from kwire.admin.routing import OperationRouter
from kwire.admin.topic_partition import TopicPartition
from kwire.error_codes import ErrorCode
from kwire.errors import KwireError
from kwire.messages import a03_metadata as metadata
from kwire.messages import a10_find_coordinator as coordinator
from kwire.net.address import Address
from kwire.net.connection import Connection

_COORDINATOR_TYPES = {Route.GROUP: 0, Route.TRANSACTION: 1}
"""FindCoordinatorRequest.KeyType (org.apache.kafka.common.requests.FindCoordinatorRequest)."""

_BATCHED_SINCE = 4
"""The version of FindCoordinator from which on it takes many keys (KIP-699)."""

MEMORY = 100_000
"""Targets that are remembered; beyond that all are forgotten, so that memory stays bounded."""

Found = tuple[dict[object, Address], dict[object, KwireError]]
"""The addresses that were found, and the errors of the other targets."""


class NodeLookup:
    """Finds the node for each target of an operation.

    The target of Route.LEADER is a TopicPartition, that of Route.GROUP and Route.TRANSACTION a
    string, that of Route.NODE and Route.RESOURCE a node id.

    slot: holds one of the requests that the client may have open, until the deadline.
    """

    def __init__(
        self,
        router: OperationRouter,
        slot: Callable[[Deadline], AbstractAsyncContextManager[None]],
    ) -> None:
        self._router = router
        self._slot = slot
        self._known: dict[tuple[Route, object], Address] = {}

    async def find(self, route: Route, targets: Iterable[object], deadline: Deadline) -> Found:
        """Return the address of each target, or why it is not known. Raises as the router does."""
        requested = list(dict.fromkeys(targets))
        failed: dict[object, KwireError] = {}
        if self._missing(route, requested):
            async with self._slot(deadline):
                # Another operation may have found them while this one waited for its turn.
                if missing := self._missing(route, requested):
                    found, failed = await self._ask(route, missing, deadline)
                    self._remember(route, found)
        known = ((target, self._known.get((route, target))) for target in requested)
        return {target: address for target, address in known if address is not None}, failed

    async def brokers(self, deadline: Deadline) -> dict[int, Address]:
        """Return the address of every broker that is not fenced, asked anew."""
        async with self._slot(deadline):
            cluster = await self._router.refresh(deadline)
        return {node_id: node.address for node_id, node in sorted(cluster.nodes.items())}

    def forget(self, route: Route, target: object) -> None:
        """Look this target up again when it is needed next."""
        self._known.pop((route, target), None)
        if route not in (Route.LEADER, *_COORDINATOR_TYPES):
            self._router.distrust()  # its description has the node's old address

    def _missing(self, route: Route, targets: Iterable[object]) -> list[object]:
        return [target for target in targets if (route, target) not in self._known]

    def _remember(self, route: Route, found: Mapping[object, Address]) -> None:
        if len(self._known) + len(found) > MEMORY:
            self._known.clear()
        self._known.update({(route, target): address for target, address in found.items()})

    async def _ask(self, route: Route, targets: list[object], deadline: Deadline) -> Found:
        if route is Route.LEADER:
            return await self._leaders(cast(list[TopicPartition], targets), deadline)
        if route in _COORDINATOR_TYPES:
            key_type = _COORDINATOR_TYPES[route]
            return await self._coordinators(key_type, cast(list[str], targets), deadline)
        return await self._nodes(cast(list[int], targets), deadline)

    async def _nodes(self, node_ids: list[int], deadline: Deadline) -> Found:
        cluster = await self._router.cluster(deadline)
        if not set(node_ids) <= cluster.nodes.keys():
            cluster = await self._router.refresh(deadline)
        known = ", ".join(map(str, sorted(cluster.nodes)))
        noun = self._router.noun
        found, failed = {}, {}
        for node_id in node_ids:
            if node_id in cluster.nodes:
                found[cast(object, node_id)] = cluster.nodes[node_id].address
            else:
                sentence = f"the cluster has no {noun} {node_id}, only {known}"
                failed[cast(object, node_id)] = cast(KwireError, NodeNotFound(sentence))
        return found, failed

    async def _leaders(self, partitions: list[TopicPartition], deadline: Deadline) -> Found:
        names = sorted({partition.topic for partition in partitions})
        request = metadata.MetadataRequest(
            topics=[metadata.MetadataRequestTopic(name=name) for name in names],
            allow_auto_topic_creation=False,
        )

        async def ask(connection: Connection, timeout: float) -> metadata.MetadataResponse:
            answer = await connection.send(request, timeout=timeout)
            return cast(metadata.MetadataResponse, answer)

        response = await self._router.call(ask, timeout=deadline.remaining)
        return _leaders_in(response, partitions)

    async def _coordinators(self, key_type: int, keys: list[str], deadline: Deadline) -> Found:
        async def ask(connection: Connection, timeout: float) -> list[coordinator.Coordinator]:
            return await _find_coordinators(connection, timeout, key_type, keys)

        found: dict[object, Address] = {}
        failed: dict[object, KwireError] = {}
        for answer in await self._router.call(ask, timeout=deadline.remaining):
            if error := refusal(answer.error_code, answer.error_message or None):
                failed[answer.key] = error
            else:
                found[answer.key] = Address(answer.host, answer.port)
        return found, failed


def _leaders_in(response: metadata.MetadataResponse, partitions: list[TopicPartition]) -> Found:
    brokers = {broker.node_id: Address(broker.host, broker.port) for broker in response.brokers}
    topics = {topic.name: topic for topic in response.topics}
    leaders = {
        TopicPartition(topic.name or "", partition.partition_index): partition.leader_id
        for topic in response.topics
        for partition in topic.partitions
    }
    found: dict[object, Address] = {}
    failed: dict[object, KwireError] = {}
    for partition in partitions:
        topic, leader = topics.get(partition.topic), leaders.get(partition)
        if leader in brokers:
            found[partition] = brokers[leader]
        elif topic is not None and (error := refusal(topic.error_code)):
            failed[partition] = error
        elif leader is None:
            code, text = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"there is no partition {partition}"
            failed[partition] = cast(KwireError, refusal(code, text))
        else:
            code, text = ErrorCode.LEADER_NOT_AVAILABLE, f"{partition} has no leader"
            failed[partition] = cast(KwireError, refusal(code, text))
    return found, failed


async def _find_coordinators(
    connection: Connection, timeout: float, key_type: int, keys: list[str]
) -> list[coordinator.Coordinator]:
    """Ask one broker for all keys at once, or one after the other if it is older than KIP-699."""
    request = coordinator.FindCoordinatorRequest
    if connection.version_for(request) >= _BATCHED_SINCE:
        batch = request(key_type=key_type, coordinator_keys=tuple(keys))
        answer = await connection.send(batch, timeout=timeout)
        return cast(coordinator.FindCoordinatorResponse, answer).coordinators
    answers = []
    for key in keys:
        answer = await connection.send(request(key_type=key_type, key=key), timeout=timeout)
        response = cast(coordinator.FindCoordinatorResponse, answer)
        answers.append(
            coordinator.Coordinator(
                key=key,
                node_id=response.node_id,
                host=response.host,
                port=response.port,
                error_code=response.error_code,
                error_message=response.error_message,
            )
        )
    return answers
