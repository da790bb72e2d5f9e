"""Answers of brokers about transactions: listings, descriptions, producers of partitions."""

from collections.abc import Mapping
from typing import cast

from kwire.codec.declaration import Response
from kwire.messages import a61_describe_producers as producers
from kwire.messages import a65_describe_transactions as describing
from kwire.messages import a66_list_transactions as listing
from kwire.net.frames import RequestFrame
from scripted_node import Script
from tests.support.admin.scripted_brokers import ScriptedBrokers

LONG_AGO = 1_000
"""Milliseconds since 1970."""

START_OFFSET = 7
"""The first offset of every open transaction."""

OTHER_PRODUCER = 99
"""A producer of every partition that has no transaction open."""


def listed(**producer_ids: int) -> Script:
    """Answer ListTransactions with these transactional ids, of the producers asked for."""

    def script(request: RequestFrame) -> Response:
        wanted = cast(listing.ListTransactionsRequest, request.body).producer_id_filters
        return listing.ListTransactionsResponse(
            transaction_states=[
                listing.TransactionState(
                    transactional_id=name, producer_id=producer_id, transaction_state="Ongoing"
                )
                for name, producer_id in producer_ids.items()
                if not wanted or producer_id in wanted
            ]
        )

    return script


def described(partitions: Mapping[str, tuple[int, ...]]) -> Script:
    """Answer DescribeTransactions with the partitions of `orders` by transactional id."""

    def script(request: RequestFrame) -> Response:
        names = cast(describing.DescribeTransactionsRequest, request.body).transactional_ids
        return describing.DescribeTransactionsResponse(
            transaction_states=[
                describing.TransactionState(
                    transactional_id=name,
                    error_code=0 if name in partitions else 105,
                    transaction_state="Ongoing",
                    transaction_start_time_ms=-1,
                    topics=[
                        describing.TopicData(topic="orders", partitions=partitions.get(name, ()))
                    ],
                )
                for name in names
            ]
        )

    return script


def producing(open_by: Mapping[int, int], last_timestamp: int = LONG_AGO) -> Script:
    """Answer DescribeProducers: by partition the producer that has a transaction open."""

    def script(request: RequestFrame) -> Response:
        topics = cast(producers.DescribeProducersRequest, request.body).topics
        return producers.DescribeProducersResponse(
            topics=[
                producers.TopicResponse(
                    name=topic.name,
                    partitions=[
                        _partition(index, open_by[index], last_timestamp)
                        for index in topic.partition_indexes
                    ],
                )
                for topic in topics
            ]
        )

    return script


def _partition(index: int, producer_id: int, last_timestamp: int) -> producers.PartitionResponse:
    return producers.PartitionResponse(
        partition_index=index,
        active_producers=[
            producers.ProducerState(
                producer_id=producer_id,
                last_timestamp=last_timestamp,
                coordinator_epoch=-1,
                current_txn_start_offset=START_OFFSET,
            ),
            producers.ProducerState(producer_id=OTHER_PRODUCER, last_timestamp=LONG_AGO),
        ],
    )


def hanging_cluster(brokers: ScriptedBrokers) -> None:
    """Give `orders` 4 partitions, each with an open transaction of producer 10 to 13.

    10: of no coordinator. 11: coordinated, with partition 1. 12: coordinated, without partition 2.
    13: listed, then gone.
    """
    nodes = brokers.nodes
    brokers.leaders = {("orders", index): index % len(nodes) for index in range(4)}
    brokers.coordinators = dict.fromkeys("bcd", len(nodes) - 1)
    nodes[0].scripts[listing.ListTransactionsRequest] = listed()
    nodes[-1].scripts[listing.ListTransactionsRequest] = listed(b=11, c=12, d=13)
    for node in nodes:
        node.scripts[describing.DescribeTransactionsRequest] = described({"b": (0, 1), "c": (3,)})
        node.scripts[producers.DescribeProducersRequest] = producing({0: 10, 1: 11, 2: 12, 3: 13})
