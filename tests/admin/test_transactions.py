"""Transactions: whom each question goes to, what is asked of old brokers, what hangs."""

from typing import cast

import pytest

from kwire.admin import AdminClient
from kwire.admin.hanging_transactions import HangingTransaction
from kwire.admin.topic_partition import TopicPartition
from kwire.codec.declaration import Response
from kwire.errors import BrokerError, UnsupportedVersion
from kwire.messages import a27_write_txn_markers as markers
from kwire.messages import a61_describe_producers as producers
from kwire.messages import a65_describe_transactions as describing
from kwire.messages import a66_list_transactions as listing
from kwire.messages.a18_api_versions import ApiVersionsRequest
from kwire.net.frames import RequestFrame
from scripted_node import api_versions
from tests.support.admin.scripted_brokers import ScriptedBrokers, scripted_brokers
from tests.support.admin.scripted_transactions import (
    described,
    hanging_cluster,
    listed,
    producing,
)

ORDERS_0, ORDERS_1 = TopicPartition("orders", 0), TopicPartition("orders", 1)


def client(brokers: ScriptedBrokers) -> AdminClient:
    return AdminClient(brokers.addresses, timeout=60)


async def test_every_broker_lists_the_transactions_it_coordinates() -> None:
    async with scripted_brokers(2) as two, client(two) as admin:
        two.nodes[0].scripts[listing.ListTransactionsRequest] = listed(a=1)
        two.nodes[1].scripts[listing.ListTransactionsRequest] = listed(b=2, c=3)
        outcomes = await admin.list_transactions(states=["Ongoing"], longer_than_ms=5, pattern="x")
        [request] = two.nodes[1].requests(listing.ListTransactionsRequest)
    assert {
        broker: [t.transactional_id for t in listings] for broker, listings in outcomes.items()
    } == {0: ["a"], 1: ["b", "c"]}
    assert request == listing.ListTransactionsRequest(
        state_filters=("Ongoing",), duration_filter=5, transactional_id_pattern="x"
    )


@pytest.mark.parametrize(
    ("filters", "oldest"), [({"longer_than_ms": 0}, 1), ({"pattern": "x"}, 2), ({}, 0)]
)
async def test_a_filter_that_a_broker_lacks_is_its_error_and_not_left_out(
    filters: dict[str, object], oldest: int
) -> None:
    async with scripted_brokers(2) as two, client(two) as admin:
        for node in two.nodes:
            node.scripts[listing.ListTransactionsRequest] = listed(a=1)
        old = two.nodes[1]
        offered = api_versions(*old.scripts, ListTransactions=(0, max(0, oldest - 1)))
        old.scripts[ApiVersionsRequest] = lambda request: offered
        outcomes = await admin.list_transactions(**filters)  # type: ignore[arg-type]
        asked = old.requests(listing.ListTransactionsRequest)
    assert 0 in outcomes
    if oldest:
        assert isinstance(outcomes.failed[1], UnsupportedVersion)
        assert not asked
    else:
        assert not outcomes.failed


async def test_a_state_that_a_broker_does_not_know_is_its_error() -> None:
    async with scripted_brokers(1) as brokers, client(brokers) as admin:
        brokers.nodes[0].scripts[listing.ListTransactionsRequest] = lambda request: (
            listing.ListTransactionsResponse(unknown_state_filters=("Onging",))
        )
        outcomes = await admin.list_transactions(states=["Onging"])
    assert "knows no state of transactions called 'Onging'" in str(outcomes.failed[0])


async def test_a_coordinator_describes_its_transactions_and_is_named() -> None:
    async with scripted_brokers(3) as three, client(three) as admin:
        three.coordinators = {"a": 2, "gone": 1}
        for node in three.nodes:
            node.scripts[describing.DescribeTransactionsRequest] = described({"a": (0, 1)})
        outcomes = await admin.describe_transactions(["a", "gone"])
    assert outcomes["a"].coordinator_id == 2
    assert outcomes["a"].partitions == (ORDERS_0, ORDERS_1)
    assert outcomes["a"].start_time_ms is None
    with pytest.raises(BrokerError, match="TRANSACTIONAL_ID_NOT_FOUND"):
        outcomes["gone"]


async def test_a_marker_is_written_by_the_leader_and_must_be_about_the_producer_asked_for() -> None:
    def marking(request: RequestFrame) -> Response:
        [marker] = cast(markers.WriteTxnMarkersRequest, request.body).markers
        partition = markers.WritableTxnMarkerPartitionResult(
            partition_index=1, error_code=0 if marker.producer_epoch == 3 else 47
        )
        topic = markers.WritableTxnMarkerTopicResult(name="orders", partitions=[partition])
        return markers.WriteTxnMarkersResponse(
            markers=[
                markers.WritableTxnMarkerResult(
                    producer_id=5 if marker.producer_id == 5 else 6, topics=[topic]
                )
            ]
        )

    async with scripted_brokers(2) as two, client(two) as admin:
        two.leaders = {("orders", 1): 1}
        two.nodes[1].scripts[markers.WriteTxnMarkersRequest] = marking
        await admin.abort_transaction(ORDERS_1, 5, 3, 2)
        [request] = two.nodes[1].requests(markers.WriteTxnMarkersRequest)
        with pytest.raises(BrokerError, match="INVALID_PRODUCER_EPOCH"):
            await admin.abort_transaction(ORDERS_1, 5, 4)
        with pytest.raises(Exception, match="left orders-1 out"):
            await admin.abort_transaction(ORDERS_1, 7, 3)
    assert request == markers.WriteTxnMarkersRequest(
        markers=[
            markers.WritableTxnMarker(
                producer_id=5,
                producer_epoch=3,
                coordinator_epoch=2,
                transaction_result=False,
                topics=[markers.WritableTxnMarkerTopic(name="orders", partition_indexes=(1,))],
            )
        ]
    )


def names(transactions: tuple[HangingTransaction, ...]) -> dict[str, str | None]:
    return {str(found.partition): found.transactional_id for found in transactions}


async def test_a_transaction_hangs_where_no_coordinator_will_write_a_marker() -> None:
    async with scripted_brokers(2) as two, client(two) as admin:
        hanging_cluster(two)
        search = await admin.find_hanging_transactions(topics=["orders", "nosuch"])
        one = await admin.find_hanging_transactions(partitions=[ORDERS_0, ORDERS_1])
    assert names(search.transactions) == {"orders-0": None, "orders-2": "c", "orders-3": "d"}
    assert search.searched == 4
    assert [*search.failed] == ["nosuch"]
    assert names(one.transactions) == {"orders-0": None}


async def test_a_transaction_that_may_still_end_is_left_to_its_coordinator() -> None:
    async with scripted_brokers(2) as two, client(two) as admin:
        hanging_cluster(two)
        for node in two.nodes:
            node.scripts[producers.DescribeProducersRequest] = producing({0: 10}, 2**50)
        search = await admin.find_hanging_transactions(partitions=[ORDERS_0])
        asked = two.nodes[0].requests(listing.ListTransactionsRequest)
    assert (search.transactions, search.searched, asked) == ((), 1, [])


async def test_nothing_is_said_to_hang_while_a_coordinator_does_not_answer() -> None:
    async with scripted_brokers(2) as two, client(two) as admin:
        hanging_cluster(two)
        two.nodes[0].scripts[listing.ListTransactionsRequest] = lambda request: (
            listing.ListTransactionsResponse(error_code=15)
        )
        with pytest.raises(ExceptionGroup) as caught:
            await admin.find_hanging_transactions(topics=["orders"])
    assert "COORDINATOR_NOT_AVAILABLE" in str(caught.value.exceptions[0])
