"""A refusal that repeats all that a request names is made beside the event loop."""

import threading
from typing import Any

import pytest

from kwire.codec.declaration import Request
from kwire.controller.handlers.registry import Handler
from kwire.controller.raft.rpc import describe_quorum
from kwire.controller.server.large_messages import MANY
from kwire.error_codes import ErrorCode
from kwire.messages.a19_create_topics import (
    CreatableTopic,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from kwire.messages.a55_describe_quorum import (
    DescribeQuorumRequest,
    DescribeQuorumResponse,
    PartitionData,
    TopicData,
)
from kwire.net.connection import Connection
from kwire.testing.quorum import Quorum

LOOP = threading.main_thread()


async def asked(request: Request, *, leader: bool) -> Any:
    """Return the answer of a controller that leads, or of one that does not."""
    async with Quorum(1) as quorum:
        node_id = await quorum.wait_for_leader()
        if not leader:
            node_id = quorum.add_member(3001).node_id
            await quorum.start_node(node_id)
        async with await Connection.open(*quorum.addresses[node_id]) as connection:
            return await connection.send(request)


async def test_many_partitions_without_a_quorum(monkeypatch: pytest.MonkeyPatch) -> None:
    threads = []
    refused = describe_quorum.refused

    def refuse(request: DescribeQuorumRequest) -> DescribeQuorumResponse:
        threads.append(threading.current_thread())
        return refused(request)

    monkeypatch.setattr(describe_quorum, "refused", refuse)
    topics = [TopicData(topic_name="t", partitions=[PartitionData()]) for _ in range(MANY)]

    answer = await asked(DescribeQuorumRequest(topics=topics), leader=True)

    assert len(threads) == 1
    assert threads[0] is not LOOP
    codes = {partition.error_code for topic in answer.topics for partition in topic.partitions}
    assert (len(answer.topics), codes) == (MANY, {ErrorCode.UNKNOWN_TOPIC_OR_PARTITION})


async def test_many_topics_at_a_controller_that_does_not_lead(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    threads = []
    original = Handler.refuse

    def refuse(self: Handler, request: Request, version: int, error: Any) -> Any:
        threads.append((type(request), threading.current_thread()))
        return original(self, request, version, error)

    monkeypatch.setattr(Handler, "refuse", refuse)
    topics = [CreatableTopic(name=f"t{number}") for number in range(MANY)]

    answer = await asked(CreateTopicsRequest(topics=topics), leader=False)

    assert isinstance(answer, CreateTopicsResponse)
    assert {topic.error_code for topic in answer.topics} == {ErrorCode.NOT_CONTROLLER}
    refusing = [thread for kind, thread in threads if kind is CreateTopicsRequest]
    assert len(refusing) == 1
    assert refusing[0] is not LOOP
