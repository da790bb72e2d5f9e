"""Tests for the groups, transactions and partitions that messages are about."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from uuid import UUID

import pytest

from kwire.codec.declaration import Group
from kwire.messages.a00_produce import (
    PartitionProduceResponse,
    ProduceResponse,
    TopicProduceResponse,
)
from kwire.messages.a01_fetch import FetchPartition, FetchRequest, FetchTopic, ForgottenTopic
from kwire.messages.a10_find_coordinator import FindCoordinatorRequest
from kwire.messages.a11_join_group import JoinGroupRequest
from kwire.messages.a15_describe_groups import DescribeGroupsRequest
from kwire.messages.a19_create_topics import CreatableTopic, CreateTopicsRequest
from kwire.messages.a24_add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from kwire.messages.a27_write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)
from kwire.messages.a73_assign_replicas_to_dirs import (
    AssignReplicasToDirsRequest,
    DirectoryData,
    PartitionData,
    TopicData,
)
from kwire.proxy.flows import subjects
from kwire.proxy.flows.effort import LOOKS, Effort, TooMuch

ID = UUID(int=2)
ID_TEXT = "AAAAAAAAAAAAAAAAAAAAAg"

Find = Callable[[Group, subjects.Look], Iterator[object]]

FOUND: tuple[tuple[Find, Group, set[object]], ...] = (
    (subjects.groups, JoinGroupRequest(group_id="g"), {"g"}),
    (subjects.groups, DescribeGroupsRequest(groups=("a", "b")), {"a", "b"}),
    (subjects.groups, FindCoordinatorRequest(key="g"), {"g"}),
    (subjects.transactions, FindCoordinatorRequest(key="g"), set()),
    (subjects.transactions, FindCoordinatorRequest(coordinator_keys=("t",), key_type=1), {"t"}),
    (subjects.groups, FindCoordinatorRequest(coordinator_keys=("t",), key_type=1), set()),
    (
        subjects.transactions,
        AddPartitionsToTxnRequest(
            transactions=[
                AddPartitionsToTxnTransaction(transactional_id="pay-1", producer_id=7),
            ]
        ),
        {"pay-1", "7"},
    ),
    (
        subjects.transactions,
        WriteTxnMarkersRequest(markers=[WritableTxnMarker(producer_id=7)]),
        {"7"},
    ),
    (
        subjects.partitions,
        WriteTxnMarkersRequest(
            markers=[
                WritableTxnMarker(
                    topics=[WritableTxnMarkerTopic(name="orders", partition_indexes=(0, 2))]
                )
            ]
        ),
        {"orders-0", "orders-2"},
    ),
    (
        subjects.partitions,
        AddPartitionsToTxnRequest(
            v3_and_below_topics=[AddPartitionsToTxnTopic(name="orders", partitions=(1,))]
        ),
        {"orders-1"},
    ),
    (
        subjects.partitions,
        FetchRequest(
            topics=[FetchTopic(topic="orders", partitions=[FetchPartition(partition=3)])],
            forgotten_topics_data=[ForgottenTopic(topic_id=ID, partitions=(4,))],
        ),
        {"orders-3", f"{ID_TEXT}-4"},
    ),
    (
        subjects.partitions,
        ProduceResponse(
            responses=[
                TopicProduceResponse(
                    name="orders", partition_responses=[PartitionProduceResponse(index=5)]
                )
            ]
        ),
        {"orders-5"},
    ),
    (subjects.topics, CreateTopicsRequest(topics=[CreatableTopic(name="orders")]), {"orders"}),
    # The id of a directory is none of a topic.
    (
        subjects.topics,
        AssignReplicasToDirsRequest(
            directories=[
                DirectoryData(
                    id=UUID(int=9), topics=[TopicData(topic_id=ID, partitions=[PartitionData()])]
                )
            ]
        ),
        {ID_TEXT},
    ),
)


@pytest.mark.parametrize(("find", "message", "expected"), FOUND)
def test_a_message_names_what_it_is_about(
    find: Find, message: Group, expected: set[object]
) -> None:
    assert set(find(message, Effort().look)) == expected


def test_no_more_partitions_are_looked_at_than_a_message_may_cost() -> None:
    topic = WritableTxnMarkerTopic(name="orders", partition_indexes=tuple(range(LOOKS + 1)))
    request = WriteTxnMarkersRequest(markers=[WritableTxnMarker(topics=[topic])])
    with pytest.raises(TooMuch):
        list(subjects.partitions(request, Effort().look))
