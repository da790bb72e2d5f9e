"""Long requests are handled in a thread; others are answered meanwhile, and no write overtakes."""

import asyncio
import threading
from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

import pytest

from kwire.batches import Record, read_batches
from kwire.batches.metadata_records import VersionedRecord
from kwire.codec.declaration import Request
from kwire.controller.handlers import incremental_alter_configs, resource_alteration
from kwire.controller.raft import Append, Resign
from kwire.controller.replicas.broker_heartbeat_manager import BrokerHeartbeatManager
from kwire.controller.server.metadata import metadata_runtime, write_queue
from kwire.controller.server.metadata.long_requests import (
    FEW_ELEMENTS,
    FEW_PARTITIONS,
    MANY_BYTES,
    is_long,
)
from kwire.controller.server.metadata.write_queue import answer_limit_ms, turn_limit_ms
from kwire.controller.server.node import ControllerNode
from kwire.controller.state_machine.metadata_view import MetadataView
from kwire.controller.state_machine.operations import (
    MAX_RECORDS_PER_BATCH,
    PreparedBatches,
    encoded_batches,
)
from kwire.error_codes import ErrorCode
from kwire.image import EMPTY, MetadataImage, apply_all
from kwire.messages.a19_create_topics import (
    CreatableTopic,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from kwire.messages.a20_delete_topics import (
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)
from kwire.messages.a37_create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from kwire.messages.a43_elect_leaders import ElectLeadersRequest
from kwire.messages.a44_incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from kwire.messages.a55_describe_quorum import DescribeQuorumRequest, DescribeQuorumResponse
from kwire.messages.a57_update_features import UpdateFeaturesRequest
from kwire.messages.a60_describe_cluster import DescribeClusterRequest, DescribeClusterResponse
from kwire.messages.a63_broker_heartbeat import BrokerHeartbeatRequest
from kwire.messages.a64_unregister_broker import UnregisterBrokerRequest
from kwire.messages.config_resource import ConfigResource, ResourceType
from kwire.messages.records.no_op import NoOpRecord
from kwire.messages.records.partition import PartitionRecord
from kwire.messages.records.register_broker import RegisterBrokerRecord
from kwire.messages.records.topic import TopicRecord
from kwire.net.connection import Connection
from kwire.testing.quorum import Quorum
from tests.support.virtual_time import in_virtual_time

PATIENCE = 60.0
ALL_BROKERS = ConfigResource(ResourceType.BROKER, "")
RETENTION = "log.retention.ms"


class Slow:
    """Has the first IncrementalAlterConfigs wait in the middle of its work."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.entered, self.opened = threading.Event(), threading.Event()
        self.judged = 0
        alter = resource_alteration.config_records

        def wait(*arguments: Any, **keywords: Any) -> Any:
            self.judged += 1
            if self.judged == 1:
                assert threading.current_thread() is not threading.main_thread()
                self.entered.set()
                assert self.opened.wait(PATIENCE)
            return alter(*arguments, **keywords)

        monkeypatch.setattr(incremental_alter_configs, "config_records", wait)
        monkeypatch.setattr(metadata_runtime, "is_long", lambda *_: True)


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Slow:
    return Slow(monkeypatch)


@pytest.fixture
async def quorum() -> AsyncIterator[Quorum]:
    properties = {
        "metadata.max.idle.interval.ms": "0",
        "controller.quorum.election.timeout.ms": "10",  # of a leader that resigned; it is alone
    }
    async with Quorum(1, properties=properties) as quorum:
        yield quorum


async def write(quorum: Quorum, value: int, node_id: int = 3000) -> int:
    config = AlterableConfig(name=RETENTION, value=str(value))
    resource = AlterConfigsResource(resource_type=ALL_BROKERS.type, configs=[config])
    async with await Connection.open(*quorum.addresses[node_id]) as connection:
        answer = await connection.send(
            IncrementalAlterConfigsRequest(resources=[resource]), timeout=PATIENCE
        )
    assert isinstance(answer, IncrementalAlterConfigsResponse)
    return answer.responses[0].error_code


def retention(quorum: Quorum) -> str:
    return quorum.nodes[3000].metadata.image.configs.of(*ALL_BROKERS)[RETENTION]


async def test_others_are_answered_and_writes_wait_their_turn(quorum: Quorum, slow: Slow) -> None:
    await quorum.wait_for_leader()
    first = asyncio.create_task(write(quorum, 1))
    assert await asyncio.to_thread(slow.entered.wait, PATIENCE)
    second = asyncio.create_task(write(quorum, 2))
    async with await Connection.open(*quorum.addresses[3000]) as connection:
        voters = await connection.send(DescribeQuorumRequest(), timeout=PATIENCE)
        assert isinstance(voters, DescribeQuorumResponse)
        nodes = await connection.send(DescribeClusterRequest(endpoint_type=2), timeout=PATIENCE)
        assert isinstance(nodes, DescribeClusterResponse)
    assert (first.done(), second.done(), slow.judged) == (False, False, 1)

    slow.opened.set()
    assert (await first, await second) == (ErrorCode.NONE, ErrorCode.NONE)
    assert retention(quorum) == "2"


async def test_a_write_whose_turn_does_not_come_in_its_time_is_refused(
    quorum: Quorum, slow: Slow, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Java's queue drops an event at its deadline; nothing of it was done."""
    monkeypatch.setattr(write_queue, "LEAST_MS", 20)
    await quorum.wait_for_leader()
    first = asyncio.create_task(write(quorum, 1))
    assert await asyncio.to_thread(slow.entered.wait, PATIENCE)
    async with await Connection.open(*quorum.addresses[3000]) as connection:
        request = CreateTopicsRequest(topics=[CreatableTopic(name="late")], timeout_ms=20)
        answer = await connection.send(request, timeout=PATIENCE)
    assert isinstance(answer, CreateTopicsResponse)
    assert [topic.error_code for topic in answer.topics] == [ErrorCode.REQUEST_TIMED_OUT]
    assert not first.done()
    slow.opened.set()
    assert await first == ErrorCode.NONE
    assert await write(quorum, 2) == ErrorCode.NONE


@in_virtual_time
async def test_a_write_that_is_not_committed_in_its_time_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One of three cannot commit; it resigns later than this, so that its own limit answers."""
    properties = {"controller.quorum.fetch.timeout.ms": "60000"}
    async with Quorum(3, properties=properties) as quorum:
        leader = await quorum.active_controller()
        for node in list(quorum.nodes.values()):
            if node is not leader:
                await node.kill()
        request = DeleteTopicsRequest(topics=[DeleteTopicState(name="none")], timeout_ms=20)
        await changed_but_not_committed(quorum, leader, monkeypatch)
        async with await Connection.open(*quorum.addresses[leader.node_id]) as connection:
            answer = await connection.send(request, timeout=PATIENCE)
        assert isinstance(answer, DeleteTopicsResponse)
        assert [response.error_code for response in answer.responses] == [
            ErrorCode.REQUEST_TIMED_OUT
        ]
        assert leader.metadata.is_active


async def changed_but_not_committed(
    quorum: Quorum, leader: ControllerNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Have the leader write something, on which every later answer of a write waits."""
    done, appended = asyncio.Event(), leader.metadata.appended

    def note(*arguments: Any) -> None:
        appended(*arguments)
        done.set()

    monkeypatch.setattr(leader.metadata, "appended", note)
    writing = asyncio.create_task(write(quorum, 1, leader.node_id))
    await asyncio.wait_for(done.wait(), PATIENCE)
    writing.cancel()
    await asyncio.wait([writing])


LIMITS: list[tuple[Request, int | None, int | None]] = [
    (CreateTopicsRequest(timeout_ms=7000), None, 7000),
    (CreateTopicsRequest(timeout_ms=-1), None, 1000),
    (DeleteTopicsRequest(timeout_ms=7000), None, 7000),
    (CreatePartitionsRequest(timeout_ms=7000), None, 7000),
    (ElectLeadersRequest(timeout_ms=7000, topic_partitions=None), None, 7000),
    (BrokerHeartbeatRequest(), 1000, None),
    (UpdateFeaturesRequest(timeout_ms=7000), None, None),
    (UnregisterBrokerRequest(), None, None),
]
"""Those to which Java's ControllerApis gives a deadline, and two to which it gives none."""


@pytest.mark.parametrize(("request_", "turn", "answer"), LIMITS)
def test_how_long_a_request_may_take(
    request_: Request, turn: int | None, answer: int | None
) -> None:
    assert (turn_limit_ms(request_), answer_limit_ms(request_)) == (turn, answer)


async def test_what_raft_wrote_meanwhile_makes_the_request_be_judged_again(
    quorum: Quorum, slow: Slow
) -> None:
    """Its records would lie behind other offsets than it was judged by."""
    leader = await quorum.active_controller()
    answer = asyncio.create_task(write(quorum, 1))
    assert await asyncio.to_thread(slow.entered.wait, PATIENCE)
    value = VersionedRecord(record=NoOpRecord(), version=0).encode()
    event = Append(token="raft", epoch=leader.raft.epoch, records=(Record(value=value),))
    leader.runtime.feed(event)
    slow.opened.set()
    assert await answer == ErrorCode.NONE
    assert slow.judged == 2
    assert await write(quorum, 5) == ErrorCode.NONE
    assert retention(quorum) == "5"


async def test_a_leader_that_resigns_meanwhile_writes_nothing_of_it(
    quorum: Quorum, slow: Slow
) -> None:
    leader = await quorum.active_controller()
    assert leader.metadata.image.configs.of(*ALL_BROKERS).get(RETENTION) is None
    answer = asyncio.create_task(write(quorum, 1))
    assert await asyncio.to_thread(slow.entered.wait, PATIENCE)
    epoch = leader.raft.epoch
    leader.runtime.feed(Resign(epoch=epoch))
    async with asyncio.timeout(PATIENCE):
        await leader.metadata.until(lambda: leader.metadata.is_active and leader.raft.epoch > epoch)
    slow.opened.set()
    assert await answer == ErrorCode.NOT_CONTROLLER
    assert leader.metadata.image.configs.of(*ALL_BROKERS).get(RETENTION) is None
    assert await write(quorum, 5) == ErrorCode.NONE
    assert retention(quorum) == "5"


def topic(number: int) -> VersionedRecord:
    record = TopicRecord(name=f"t{number}", topic_id=UUID(int=number + 1))
    return VersionedRecord(record=record, version=0)


def test_more_records_than_a_batch_holds_become_several() -> None:
    """A fenced broker may lead 100,000 partitions (Java's QuorumController.appendRecords)."""
    count = 2 * MAX_RECORDS_PER_BATCH + 5
    records = [topic(number) for number in range(count)]
    manager = BrokerHeartbeatManager(session_timeout_ms=1)
    draft = PreparedBatches.of(records, MetadataView(end_offset=7), manager, 0)
    batches = encoded_batches(draft.records, 3)
    sizes = [MAX_RECORDS_PER_BATCH, MAX_RECORDS_PER_BATCH, 5]
    assert [len(list(batch.records())) for data in batches for batch in read_batches(data)] == sizes
    assert [view.end_offset for view in draft.views] == [10_007, 20_007, 20_012]
    assert [len(view.image.topics.ids) for view in draft.views] == [10_000, 20_000, 20_005]


def cluster(partitions: int, *, fenced: bool = False) -> MetadataImage:
    id = UUID(int=1)
    return apply_all(
        EMPTY,
        [
            RegisterBrokerRecord(broker_id=1, fenced=fenced),
            TopicRecord(name="t", topic_id=id),
            *(
                PartitionRecord(partition_id=n, topic_id=id, replicas=(1,), isr=(1,), leader=1)
                for n in range(partitions)
            ),
        ],
    )


SMALL, LARGE = cluster(1), cluster(FEW_PARTITIONS + 1)
BEAT = BrokerHeartbeatRequest(broker_id=1)


def created(count: int, partitions: int) -> CreateTopicsRequest:
    return CreateTopicsRequest(
        topics=[CreatableTopic(name=f"t{n}", num_partitions=partitions) for n in range(count)]
    )


REQUESTS: list[tuple[str, Request, MetadataImage, bool]] = [
    ("a topic", created(1, 10), LARGE, False),
    ("many topics", created(FEW_ELEMENTS, 1), SMALL, True),
    ("a topic of many partitions", created(1, FEW_PARTITIONS + 1), SMALL, True),
    (
        "many new partitions",
        CreatePartitionsRequest(topics=[CreatePartitionsTopic(count=FEW_PARTITIONS + 1)]),
        SMALL,
        True,
    ),
    ("all leaders", ElectLeadersRequest(topic_partitions=None), LARGE, True),
    ("all of few leaders", ElectLeadersRequest(topic_partitions=None), SMALL, False),
    ("a broker goes", UnregisterBrokerRequest(broker_id=1), LARGE, True),
    ("a heartbeat", BEAT, LARGE, False),
    ("a heartbeat of an unknown broker", BEAT.replace(broker_id=9), LARGE, False),
    ("a broker wants to stop", BEAT.replace(want_shut_down=True), LARGE, True),
    ("a broker wants to be unfenced", BEAT, cluster(FEW_PARTITIONS + 1, fenced=True), True),
]


@pytest.mark.parametrize(
    ("request_", "image", "expected"), [row[1:] for row in REQUESTS], ids=[r[0] for r in REQUESTS]
)
def test_what_takes_long(request_: Request, image: MetadataImage, expected: bool) -> None:
    assert is_long(request_, image) is expected


def test_a_request_of_many_bytes_takes_long() -> None:
    """One value of 32 KB can be a list of 16,000 words."""
    assert is_long(created(1, 1), SMALL, MANY_BYTES + 1)
    assert not is_long(created(1, 1), SMALL, MANY_BYTES)
