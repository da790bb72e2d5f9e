"""Scripted controllers that also tell of themselves: whom they follow, how they are configured."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from uuid import UUID

from kwire.codec.declaration import Response
from kwire.error_codes import ErrorCode
from kwire.messages.a01_fetch import (
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    LeaderIdAndEpoch,
    PartitionData,
)
from kwire.messages.a32_describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
)
from kwire.messages.a52_vote import VoteRequest
from kwire.messages.metadata_topic import METADATA_TOPIC
from kwire.net.frames import RequestFrame
from scripted_node import HANG_UP, ScriptedNode
from scripted_quorum import ScriptedQuorum, scripted_quorum

EPOCH = 7


class Controllers:
    """Adds to a scripted quorum what controllers tell of themselves."""

    def __init__(self, quorum: ScriptedQuorum) -> None:
        self.quorum = quorum
        self.leader_ids: dict[int, int] = {}
        self.configs: Mapping[str, str] = {"controller.quorum.fetch.timeout.ms": "1500"}
        for index, node in enumerate(quorum.nodes):
            self._script(index, node)

    def _script(self, index: int, node: ScriptedNode) -> None:
        node.scripts |= {
            FetchRequest: lambda _: self._refused_fetch(index),
            DescribeConfigsRequest: lambda request: self._configs(index, request),
            VoteRequest: lambda _: HANG_UP,
        }

    def _refused_fetch(self, index: int) -> Response:
        leader_id = self.leader_ids.get(index, self.quorum.leading)
        partition = PartitionData(
            error_code=ErrorCode.FENCED_LEADER_EPOCH,
            current_leader=LeaderIdAndEpoch(leader_id=leader_id, leader_epoch=EPOCH),
        )
        topic = FetchableTopicResponse(topic=METADATA_TOPIC, partitions=[partition])
        return FetchResponse(responses=[topic])

    def _configs(self, index: int, request: RequestFrame) -> Response:
        assert isinstance(request.body, DescribeConfigsRequest)
        (resource,) = request.body.resources
        result = DescribeConfigsResult(resource_type=4, resource_name=resource.resource_name)
        if resource.resource_name != str(index):
            result.error_code = ErrorCode.INVALID_REQUEST
            result.error_message = (
                f"Unexpected broker id, expected {index} or empty string, but received"
                f" {resource.resource_name}"
            )
        else:
            result.configs = [
                DescribeConfigsResourceResult(name=name, value=value)
                for name, value in self.configs.items()
            ]
        return DescribeConfigsResponse(results=[result])


@asynccontextmanager
async def controllers(count: int = 3) -> AsyncIterator[Controllers]:
    """Run scripted controllers 0, 1 …, of which 0 leads and votes."""
    async with scripted_quorum(count) as quorum:
        quorum.voters = {(index, UUID(int=index + 1)) for index in range(count)}
        yield Controllers(quorum)


async def no_log(*_: object) -> tuple[None, str]:
    """Stand for `gather._observe`: scripted controllers have no metadata log."""
    return None, "no leader gave it"


@contextmanager
def controllers_beside(count: int = 3) -> Iterator[Controllers]:
    """Run scripted controllers in a thread of their own, for commands that block this one."""
    ready, done = threading.Event(), asyncio.Event()
    running: list[tuple[Controllers, asyncio.AbstractEventLoop]] = []

    async def run() -> None:
        async with controllers(count) as scripted:
            running.append((scripted, asyncio.get_running_loop()))
            ready.set()
            await done.wait()

    thread = threading.Thread(target=asyncio.run, args=(run(),))
    thread.start()
    assert ready.wait(60)
    scripted, loop = running[0]
    try:
        yield scripted
    finally:
        loop.call_soon_threadsafe(done.set)
        thread.join()
