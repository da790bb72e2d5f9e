"""Has requests answered by the active controller, or by the node whose configuration they want."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress

from kwire.codec.declaration import Request, Response
from kwire.codec.versions import Versions
from kwire.error_codes import ErrorCode
from kwire.errors import AnswerLost, ConnectionFailed, KwireError
from kwire.messages.a32_describe_configs import DescribeConfigsRequest
from kwire.messages.a55_describe_quorum import (
    DescribeQuorumRequest,
    DescribeQuorumResponse,
    PartitionData,
    TopicData,
)
from kwire.net.address import Address
from kwire.net.service import RequestContext
from kwire.observer.observer import METADATA_TOPIC
from kwire.proxy.flows.error_response import error_response
from kwire.proxy.flows.node_addresses import node_addresses
from kwire.proxy.serve.dispatch import Routed
from kwire.proxy.serve.owners import Owner, by_owner, together
from kwire.proxy.serve.routes import ACTIVE, DESCRIBE_CONFIGS, READS, is_elsewhere
from kwire.proxy.serve.served_cluster import ServedCluster

PATIENCE = 10.0
"""Seconds in which an active controller must be found; an election takes one or two."""

PAUSE = 0.1

SETTLED = 1.0
"""Seconds in which the image catches up with a write; it takes one round trip."""

QUORUM = DescribeQuorumRequest(
    topics=[TopicData(topic_name=METADATA_TOPIC, partitions=[PartitionData(partition_index=0)])]
)


class ControllerRouter:
    """Routes by who leads the quorum."""

    def __init__(self, cluster: ServedCluster) -> None:
        self._cluster = cluster

    @property
    def apis(self) -> Mapping[int, Versions]:
        """What is for one node."""
        return {**ACTIVE, DESCRIBE_CONFIGS: DescribeConfigsRequest.versions}

    async def route(self, request: Request, context: RequestContext) -> Routed | None:
        """The answer of the node that it is for; REQUEST_TIMED_OUT where none comes."""
        if isinstance(request, DescribeConfigsRequest):
            return await self._describe_configs(request, context.version)
        return await self.ask_active(request, context.version, context.version)

    async def ask_active(
        self, request: Request, version: int | None, answered: int
    ) -> Routed | None:
        """The active controller's answer.

        version: None for the highest that it has. answered: of the response to the client.

        1. Wait for an active controller; a connection that fails before anything was sent, or
           an answer that says it is another, leads back to here.
        2. What was sent and not answered may have been done: it is not sent again.
        3. What was written is in the image before the client hears of it, and so reads it.
        """
        connections = self._cluster.connections
        loop = asyncio.get_running_loop()
        end = loop.time() + PATIENCE
        while (leader := await self._leader(end)) is not None:
            who = f"node {self._cluster.live.leader_id}"
            try:
                connection = await connections.to(leader)
            except KwireError:
                await asyncio.sleep(PAUSE)
                continue
            try:
                response = await connection.send(request, version)
            except KwireError as error:
                if isinstance(error, AnswerLost) or not isinstance(error, ConnectionFailed):
                    return _timed_out(request, answered, who)
                await asyncio.sleep(PAUSE)  # it was closed before anything was sent
                continue
            if is_elsewhere(response) and loop.time() < end:
                await asyncio.sleep(PAUSE)
                continue
            self._place(response)
            if type(request).key not in READS:
                await self._settle(leader)
            return Routed(response=response, node=who)
        return _timed_out(request, answered, "the active controller, which was not found")

    async def _settle(self, leader: Address) -> None:
        """Wait until the image is as far as the leader is now, if that does not take long."""
        live = self._cluster.live
        with suppress(KwireError, TimeoutError):
            async with asyncio.timeout(SETTLED):
                response = await self._cluster.connections.ask(leader, QUORUM)
                assert isinstance(response, DescribeQuorumResponse), "nothing else answers it"
                marks = (
                    one.high_watermark for topic in response.topics for one in topic.partitions
                )
                committed = max(marks, default=0)
                while live.offset < committed:
                    await live.changed()

    def _place(self, response: Response) -> None:
        """The voters' addresses in DescribeQuorum become those of the proxy."""
        addresses = self._cluster.nodes.addresses
        for found in node_addresses(response):
            if found.node_id is not None and found.node_id in addresses:
                found.change(addresses[found.node_id])

    async def _leader(self, end: float) -> Address | None:
        """Where the active controller is; None where there is none until then."""
        live = self._cluster.live
        with suppress(TimeoutError):
            async with asyncio.timeout_at(end):
                while live.leader is None:
                    await live.changed()
        return live.leader if asyncio.get_running_loop().time() < end else None

    async def _describe_configs(
        self, request: DescribeConfigsRequest, version: int
    ) -> Routed | None:
        answers: dict[Owner, Response] = {}
        who = []
        for owner, share in by_owner(request).items():
            routed = await self._ask_owner(owner, share, version)
            if routed is None:
                return None
            answers[owner] = routed.response
            who.append(routed.node)
        return Routed(response=together(request, answers), node=", ".join(who))

    async def _ask_owner(self, owner: Owner, share: Request, version: int) -> Routed | None:
        address = None if owner is None else self._cluster.upstream(owner)
        if address is None:
            return await self.ask_active(share, version, version)
        who = f"node {owner}"
        try:
            response = await self._cluster.connections.ask(address, share, version)
        except KwireError:
            return _timed_out(share, version, who)
        return Routed(response=response, node=who)


def _timed_out(request: Request, version: int, who: str) -> Routed | None:
    response = error_response(request, version, ErrorCode.REQUEST_TIMED_OUT)
    return None if response is None else Routed(response=response, node=f"{who}: no answer")
