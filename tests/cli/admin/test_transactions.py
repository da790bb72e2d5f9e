"""`kwire transactions`: rows of what works and what fails, and what is refused without --force."""

from collections.abc import Iterator
from typing import cast

import pytest

from kwire.codec.declaration import Response
from kwire.messages import a22_init_producer_id as init
from kwire.messages import a27_write_txn_markers as markers
from kwire.messages import a61_describe_producers as describing
from kwire.messages import a66_list_transactions as listing
from kwire.net.frames import RequestFrame
from tests.support.admin.scripted_brokers import ScriptedBrokers
from tests.support.admin.scripted_transactions import hanging_cluster, producing
from tests.support.cli.command import Command
from tests.support.cli.scripted_cluster import at, scripted_cluster


def marked(request: RequestFrame) -> Response:
    """Write every marker that is asked for."""
    [marker] = cast(markers.WriteTxnMarkersRequest, request.body).markers
    topics = [
        markers.WritableTxnMarkerTopicResult(
            name=topic.name,
            partitions=[
                markers.WritableTxnMarkerPartitionResult(partition_index=index)
                for index in topic.partition_indexes
            ],
        )
        for topic in marker.topics
    ]
    result = markers.WritableTxnMarkerResult(producer_id=marker.producer_id, topics=topics)
    return markers.WriteTxnMarkersResponse(markers=[result])


@pytest.fixture
def cluster() -> Iterator[ScriptedBrokers]:
    with scripted_cluster() as brokers:
        hanging_cluster(brokers)
        scripts = brokers.nodes[0].scripts
        scripts[markers.WriteTxnMarkersRequest] = marked
        scripts[init.InitProducerIdRequest] = lambda request: init.InitProducerIdResponse(
            producer_id=11, producer_epoch=5
        )
        yield brokers


def test_transactions_are_listed_with_kafkas_columns(
    kwire: Command, cluster: ScriptedBrokers
) -> None:
    run = kwire("transactions", "list", "--state", "Ongoing", *at(cluster))
    assert run.code == 0
    assert [line.split() for line in run.out.splitlines()] == [
        ["TransactionalId", "Coordinator", "ProducerId", "TransactionState"],
        ["b", "0", "11", "Ongoing"],
        ["c", "0", "12", "Ongoing"],
        ["d", "0", "13", "Ongoing"],
    ]


def test_a_broker_that_fails_is_a_row(kwire: Command, cluster: ScriptedBrokers) -> None:
    cluster.nodes[0].scripts[listing.ListTransactionsRequest] = lambda request: (
        listing.ListTransactionsResponse(error_code=15)
    )
    run = kwire("transactions", "list", "--json", *at(cluster))
    [row] = run.json["transactions"]
    assert (run.code, row["coordinator"], row["error"]) == (1, 0, "COORDINATOR_NOT_AVAILABLE")


def test_a_description_leaves_out_what_is_not_known(
    kwire: Command, cluster: ScriptedBrokers
) -> None:
    run = kwire("transactions", "describe", "b", "--transactional-id", "d", "--json", *at(cluster))
    known, gone = run.json["transactions"]
    assert run.code == 1
    assert known["topicPartitions"] == ["orders-0", "orders-1"]
    assert known["coordinatorId"] == 0
    assert known["currentTransactionStartTimeMs"] is None
    assert known["transactionDurationMs"] is None
    assert (gone["transactionalId"], gone["error"]) == ("d", "TRANSACTIONAL_ID_NOT_FOUND")


def test_producers_are_named_both_ways(kwire: Command, cluster: ScriptedBrokers) -> None:
    run = kwire(
        *("transactions", "producers", "orders-0", "--topic", "orders", "--partition", "1"),
        *("--json", *at(cluster)),
    )
    rows = run.json["producers"]
    assert [(row["partition"], row["producerId"]) for row in rows] == [
        (0, 10),
        (0, 99),
        (1, 11),
        (1, 99),
    ]
    assert rows[0]["currentTransactionStartOffset"] == 7
    assert rows[0]["latestCoordinatorEpoch"] is None
    assert rows[0]["lastTimestamp"] == "1970-01-01T00:00:01.000+00:00"
    assert rows[1]["currentTransactionStartOffset"] is None


def test_a_time_that_no_calendar_has_is_a_number_only(
    kwire: Command, cluster: ScriptedBrokers
) -> None:
    cluster.nodes[0].scripts[describing.DescribeProducersRequest] = producing({0: 10}, 2**62)
    run = kwire("transactions", "producers", "orders-0", "--json", *at(cluster))
    row = run.json["producers"][0]
    assert (run.code, row["lastTimestampMs"], row["lastTimestamp"]) == (0, 2**62, None)


def test_what_hangs_is_found_with_what_an_abort_needs(
    kwire: Command, cluster: ScriptedBrokers
) -> None:
    run = kwire("transactions", "find-hanging", "--topic", "orders", "--json", *at(cluster))
    found = [
        (r["partition"], r["startOffset"], r["transactionalId"]) for r in run.json["transactions"]
    ]
    assert (run.code, found) == (0, [(0, 7, None), (2, 7, "c"), (3, 7, "d")])
    missing = kwire("transactions", "find-hanging", "--topic", "nosuch", "--json", *at(cluster))
    [row] = missing.json["transactions"]
    assert (missing.code, row["topic"], row["error"]) == (
        1,
        "nosuch",
        "UNKNOWN_TOPIC_OR_PARTITION",
    )


@pytest.mark.parametrize(
    "words", [["find-hanging"], ["abort", "orders-0", "--start-offset", "7", "--yes"]]
)
def test_nothing_hangs_and_nothing_is_aborted_while_a_coordinator_is_silent(
    kwire: Command, cluster: ScriptedBrokers, words: list[str]
) -> None:
    cluster.nodes[0].scripts[listing.ListTransactionsRequest] = lambda request: (
        listing.ListTransactionsResponse(error_code=15)
    )
    run = kwire("transactions", *words, *at(cluster))
    assert (run.code, run.error) == (
        1,
        "not every coordinator answered, so what hangs is not known: COORDINATOR_NOT_AVAILABLE:"
        " the coordinator is not available now.",
    )
    assert not cluster.nodes[0].requests(markers.WriteTxnMarkersRequest)


def test_a_transaction_that_hangs_is_aborted(kwire: Command, cluster: ScriptedBrokers) -> None:
    abort = ("transactions", "abort", "orders-0", "--start-offset", "7", *at(cluster))
    assert kwire(*abort).error.endswith("Not a terminal: confirm with --yes.")
    assert kwire(*abort, "--dry-run").code == 0
    assert not cluster.nodes[0].requests(markers.WriteTxnMarkersRequest)
    assert kwire(*abort, "--yes").code == 0
    [request] = cluster.nodes[0].requests(markers.WriteTxnMarkersRequest)
    [marker] = cast(markers.WriteTxnMarkersRequest, request).markers
    assert (marker.producer_id, marker.transaction_result) == (10, False)


def test_a_transaction_that_a_coordinator_will_end_is_aborted_by_force_only(
    kwire: Command, cluster: ScriptedBrokers
) -> None:
    abort = ("transactions", "abort", "orders-1", "--start-offset", "7", "--yes", *at(cluster))
    assert "a coordinator may still end the transaction of producer 11" in kwire(*abort).error
    assert not cluster.nodes[0].requests(markers.WriteTxnMarkersRequest)
    assert kwire(*abort, "--force").code == 0


def test_an_offset_where_nothing_begins_names_those_where_something_does(
    kwire: Command, cluster: ScriptedBrokers
) -> None:
    run = kwire("transactions", "abort", "orders-0", "--start-offset", "3", "--yes", *at(cluster))
    assert run.error == (
        "no open transaction begins at offset 3 of orders-0: open ones begin at 7."
    )


@pytest.mark.parametrize("verb", ["fence", "terminate"])
def test_an_id_that_does_not_exist_is_not_made_by_fencing_it(
    kwire: Command, cluster: ScriptedBrokers, verb: str
) -> None:
    run = kwire("transactions", verb, "b", "d", "--yes", "--json", *at(cluster))
    [request] = cluster.nodes[0].requests(init.InitProducerIdRequest)
    assert cast(init.InitProducerIdRequest, request).transactional_id == "b"
    done, refused = run.json["producers"]
    assert (done["producerId"], done["producerEpoch"], done["error"]) == (11, 5, None)
    assert (run.code, refused["error"]) == (1, "TRANSACTIONAL_ID_NOT_FOUND")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["describe"], "name a transactional id."),
        (["producers"], "name a partition, as in orders-3."),
        (["producers", "orders"], "'orders' is no partition"),
        (["producers", "--topic", "orders"], "--topic and --partition belong together."),
        (["find-hanging", "--partition", "1"], "--partition is a partition of --topic."),
        (["abort", "orders-0"], "give --start-offset, or --producer-id"),
        (["abort", "a-0", "--producer-id", "5"], "give --start-offset, or --producer-id"),
        (["abort", "a-0", "--start-offset", "7", "--producer-id", "5"], "give --start-offset, or"),
        (["abort", "a-0", "--topic", "b", "--partition", "1"], "name one partition"),
        (["fence", "b"], "Not a terminal: confirm with --yes."),
    ],
)
def test_wrong_usage_is_exit_code_2(kwire: Command, words: list[str], sentence: str) -> None:
    run = kwire("transactions", *words, "--bootstrap-server", "localhost:1")
    assert run.code == 2
    assert sentence in run.error
