"""Breaks of `answers/transactions`."""

from breaking import Break, changes, sets
from kwire.messages.a22_init_producer_id import InitProducerIdRequest
from kwire.messages.a24_add_partitions_to_txn import AddPartitionsToTxnRequest
from kwire.messages.a27_write_txn_markers import WriteTxnMarkersRequest
from kwire.messages.a28_txn_offset_commit import TxnOffsetCommitRequest
from kwire.messages.a61_describe_producers import DescribeProducersRequest
from kwire.messages.a65_describe_transactions import DescribeTransactionsRequest
from kwire.messages.a66_list_transactions import ListTransactionsRequest

BREAKS: dict[int, Break] = {
    1: changes(InitProducerIdRequest, sets("producer_epoch", 7), only_for=3),
    2: changes(
        AddPartitionsToTxnRequest,
        sets("results_by_topic_v3_and_below[*].results_by_partition[1].partition_index", 7),
        only_for=2,
    ),
    3: changes(WriteTxnMarkersRequest, sets("markers[0].producer_id", 7)),
    4: changes(TxnOffsetCommitRequest, sets("topics[*].partitions[1].partition_index", 7)),
    5: changes(
        DescribeProducersRequest,
        sets("topics[0].partitions[1].active_producers[0].coordinator_epoch", 7),
    ),
    6: changes(DescribeTransactionsRequest, sets("transaction_states[0].transactional_id", "")),
    7: changes(ListTransactionsRequest, sets("transaction_states[*].producer_id", 7), only_for=1),
}
