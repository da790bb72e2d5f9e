"""Producers: as leaders and named replicas know them, and fenced by their coordinators."""

from typing import cast

from kwire.admin import AdminClient
from kwire.admin.producers import ActiveProducer, ProducerIdAndEpoch
from kwire.admin.topic_partition import TopicPartition
from kwire.codec.declaration import Response
from kwire.messages import a22_init_producer_id as init
from kwire.messages import a61_describe_producers as producers
from kwire.net.frames import RequestFrame
from tests.support.admin.scripted_brokers import ScriptedBrokers, scripted_brokers
from tests.support.admin.scripted_transactions import LONG_AGO, producing
from tests.support.virtual_time import in_virtual_time

ORDERS_0 = TopicPartition("orders", 0)


def client(brokers: ScriptedBrokers) -> AdminClient:
    return AdminClient(brokers.addresses, timeout=60)


async def test_many_partitions_are_asked_for_in_requests_of_bounded_size() -> None:
    async with scripted_brokers(1) as brokers, client(brokers) as admin:
        partitions = [TopicPartition("orders", index) for index in range(1201)]
        brokers.leaders = {("orders", index): 0 for index in range(1201)}
        [node] = brokers.nodes
        node.scripts[producers.DescribeProducersRequest] = producing(dict.fromkeys(range(1201), 5))
        outcomes = await admin.describe_producers(partitions)
        requests = cast(
            list[producers.DescribeProducersRequest],
            node.requests(producers.DescribeProducersRequest),
        )
    assert len(outcomes) == 1201
    assert [len(request.topics[0].partition_indexes) for request in requests] == [500, 500, 201]


async def test_what_a_replica_does_not_know_is_none() -> None:
    async with scripted_brokers(1) as brokers, client(brokers) as admin:
        brokers.leaders = {("orders", 0): 0}
        brokers.nodes[0].scripts[producers.DescribeProducersRequest] = producing({0: 5})
        outcomes = await admin.describe_producers([ORDERS_0])
    assert outcomes[ORDERS_0][1] == ActiveProducer(
        producer_id=99,
        producer_epoch=0,
        last_sequence=None,
        last_timestamp=LONG_AGO,
        coordinator_epoch=0,
        transaction_start_offset=None,
    )


async def test_a_named_replica_is_asked_whoever_leads_and_only_once() -> None:
    def refusing(request: RequestFrame) -> Response:
        partition = producers.PartitionResponse(partition_index=0, error_code=6)
        return producers.DescribeProducersResponse(
            topics=[producers.TopicResponse(name="orders", partitions=[partition])]
        )

    async with scripted_brokers(2) as two, client(two) as admin:
        two.leaders = {("orders", 0): 0}
        two.nodes[1].scripts[producers.DescribeProducersRequest] = refusing
        outcomes = await admin.describe_producers([ORDERS_0], broker_id=1)
        asked = two.nodes[1].requests(producers.DescribeProducersRequest)
    assert str(outcomes.failed[ORDERS_0]).startswith("NOT_LEADER_OR_FOLLOWER: ")
    assert len(asked) == 1


@in_virtual_time
async def test_a_producer_is_fenced_once_its_open_transaction_has_been_aborted() -> None:
    codes = [51, 51, 0]

    def fencing(request: RequestFrame) -> Response:
        return init.InitProducerIdResponse(error_code=codes.pop(0), producer_id=5, producer_epoch=4)

    async with scripted_brokers(2) as two, client(two) as admin:
        two.coordinators = {"a": 1}
        two.nodes[1].scripts[init.InitProducerIdRequest] = fencing
        outcomes = await admin.fence_producers(["a"])
        requests = cast(
            list[init.InitProducerIdRequest], two.nodes[1].requests(init.InitProducerIdRequest)
        )
    assert outcomes.all() == {"a": ProducerIdAndEpoch(producer_id=5, producer_epoch=4)}
    assert [(r.transactional_id, r.producer_id, r.producer_epoch) for r in requests] == [
        ("a", -1, -1)
    ] * 3
