"""A scripted controller 3000 with the metadata log of the migration in fixtures/migrations."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

from kwire.batches import read_batches
from kwire.codec.declaration import Response
from kwire.error_codes import ErrorCode
from kwire.messages.a01_fetch import (
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    LeaderIdAndEpoch,
    PartitionData,
)
from kwire.messages.a18_api_versions import ApiVersionsRequest, ApiVersionsResponse
from kwire.messages.a32_describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
)
from kwire.messages.a52_vote import VoteRequest
from kwire.messages.a55_describe_quorum import DescribeQuorumRequest
from kwire.messages.a60_describe_cluster import (
    DescribeClusterBroker,
    DescribeClusterRequest,
    DescribeClusterResponse,
)
from kwire.messages.metadata_topic import METADATA_TOPIC, METADATA_TOPIC_ID
from kwire.net.frames import RequestFrame
from kwire.zookeeper.znodes import ClusterIdZnode
from scripted_node import HANG_UP, SILENCE, Raw, ScriptedNode, api_versions
from scripted_quorum import quorum_answer
from tests.support.migration.golden import SEGMENT, golden_zookeeper

ID = 3000
EPOCH = 1


class GoldenController:
    """Serves the log up to an offset; each address is one controller.

    end, epoch: a test may change them; with a lower epoch it is as if it was formatted anew. id:
    of a follower, which knows no leader, if it is not that of the leader.
    """

    def __init__(self, end: int, *, id: int = ID, port: int = 0) -> None:
        self.id = id
        self.end = end
        self.epoch = EPOCH
        self.node = ScriptedNode(
            {
                DescribeClusterRequest: self._cluster,
                DescribeQuorumRequest: self._quorum,
                DescribeConfigsRequest: self._configs,
                FetchRequest: self._fetch,
                VoteRequest: lambda _: HANG_UP,
            }
        )
        self.node.scripts[ApiVersionsRequest] = self._api_versions
        self.node.port = port
        self._batches = list(read_batches(SEGMENT.read_bytes()))

    def _api_versions(self, request: RequestFrame) -> ApiVersionsResponse:
        offered = [item for item in self.node.scripts if item is not ApiVersionsRequest]
        answer = api_versions(ApiVersionsRequest, *offered)
        answer.zk_migration_ready = True
        return answer

    def _cluster(self, request: RequestFrame) -> Response:
        data = golden_zookeeper("before").tree[ClusterIdZnode.path].data
        broker = DescribeClusterBroker(broker_id=self.id, host="127.0.0.1", port=self.node.port)
        return DescribeClusterResponse(
            cluster_id=ClusterIdZnode.parse(data).cluster_id,
            controller_id=self.id,
            brokers=[broker],
        )

    def _quorum(self, request: RequestFrame) -> Response:
        answer = quorum_answer(0, [(ID, UUID(int=0))])
        partition = answer.topics[0].partitions[0]
        if self.id != ID:
            partition.error_code = ErrorCode.NOT_LEADER_OR_FOLLOWER
            return answer
        partition.leader_id, partition.leader_epoch = ID, self.epoch
        return answer

    def _configs(self, request: RequestFrame) -> Response:
        assert isinstance(request.body, DescribeConfigsRequest)
        (resource,) = request.body.resources
        result = DescribeConfigsResult(resource_type=4, resource_name=resource.resource_name)
        if resource.resource_name != str(self.id):
            result.error_code = ErrorCode.INVALID_REQUEST
            result.error_message = f"Unexpected broker id, expected {self.id} or empty string"
        else:
            result.configs = [DescribeConfigsResourceResult(name="node.id", value=str(self.id))]
        return DescribeConfigsResponse(results=[result])

    def _fetch(self, request: RequestFrame) -> Response | Raw:
        assert isinstance(request.body, FetchRequest)
        (partition,) = request.body.topics[0].partitions
        leader = LeaderIdAndEpoch(leader_id=ID, leader_epoch=self.epoch)
        if self.id != ID:
            refusal = ErrorCode.NOT_LEADER_OR_FOLLOWER
            return _answer(PartitionData(error_code=refusal, current_leader=LeaderIdAndEpoch()))
        if partition.partition_max_bytes == 1:  # the question whom it follows
            refusal = ErrorCode.FENCED_LEADER_EPOCH
            return _answer(PartitionData(error_code=refusal, current_leader=leader))
        if partition.current_leader_epoch > self.epoch:
            refusal = ErrorCode.UNKNOWN_LEADER_EPOCH
            return _answer(PartitionData(error_code=refusal, current_leader=leader))
        batches = [
            batch
            for batch in self._batches
            if partition.fetch_offset <= batch.base_offset and batch.last_offset < self.end
        ]
        if not batches:
            return SILENCE
        records = b"".join(batch.data for batch in batches)
        end = batches[-1].last_offset + 1
        return _answer(PartitionData(records=records, high_watermark=end, current_leader=leader))


def _answer(partition: PartitionData) -> FetchResponse:
    topic = FetchableTopicResponse(
        topic=METADATA_TOPIC, topic_id=METADATA_TOPIC_ID, partitions=[partition]
    )
    return FetchResponse(responses=[topic])


@contextmanager
def golden_controller(end: int, *, id: int = ID, port: int = 0) -> Iterator[GoldenController]:
    """Run a controller in a thread of its own, for commands that block this one."""
    ready, done = threading.Event(), asyncio.Event()
    controller = GoldenController(end, id=id, port=port)
    loops: list[asyncio.AbstractEventLoop] = []

    async def run() -> None:
        async with controller.node:
            loops.append(asyncio.get_running_loop())
            ready.set()
            await done.wait()

    thread = threading.Thread(target=asyncio.run, args=(run(),))
    thread.start()
    assert ready.wait(60)
    try:
        yield controller
    finally:
        loops[0].call_soon_threadsafe(done.set)
        thread.join()
