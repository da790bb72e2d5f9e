"""Messages are compared by what their elements are about, without what differs each time."""

from uuid import UUID

import pytest

from kwire.batches import Record, build_batch
from kwire.codec.declaration import Response
from kwire.messages.a01_fetch import FetchableTopicResponse, FetchResponse, PartitionData
from kwire.messages.a03_metadata import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from kwire.messages.a36_sasl_authenticate import SaslAuthenticateResponse
from kwire.proxy.capture.replay.comparison import GROWING, IGNORED, IgnoredFields, differences
from tests.support.paths import DOCS


def metadata(*names: str, leader: int = 1, cluster: str = "c") -> MetadataResponse:
    partition = MetadataResponsePartition(partition_index=0, leader_id=leader, leader_epoch=leader)
    return MetadataResponse(
        cluster_id=cluster,
        brokers=[MetadataResponseBroker(node_id=1, host="a", port=9092)],
        topics=[
            MetadataResponseTopic(name=name, topic_id=UUID(int=leader), partitions=[partition])
            for name in names
        ],
    )


def difference_texts(
    left: Response, right: Response, version: int, ignore: IgnoredFields | None = None
) -> list[str]:
    found = differences(left, right, version, IgnoredFields() if ignore is None else ignore)
    return [str(pair) for pair in found]


def test_order_epochs_and_ids_do_not_matter() -> None:
    assert difference_texts(metadata("a", "b"), metadata("b", "a", cluster="d"), 12) == []


def test_a_difference_says_where_it_is_and_what_stands_on_either_side() -> None:
    assert difference_texts(metadata("a", "b"), metadata("a", "c", leader=2), 12) == [
        "topics[a].partitions[0].leader_id: 1 → 2",
        "topics[b]: there → nothing",
        "topics[c]: nothing → there",
    ]


def test_everything_counts_without_the_usual_exceptions() -> None:
    exact = IgnoredFields(defaults=False)
    found = difference_texts(metadata("a"), metadata("a", leader=2, cluster="d"), 12, exact)
    assert [line.partition(":")[0] for line in found] == [
        "cluster_id",
        "topics[a].topic_id",
        "topics[a].partitions[0].leader_id",
        "topics[a].partitions[0].leader_epoch",
    ]


@pytest.mark.parametrize(
    "pattern", ["leader_id", "leader_*", "partitions.leader_id", "topics.partitions.leader_id"]
)
def test_what_is_ignored_is_a_field_or_the_end_of_a_path(pattern: str) -> None:
    assert (
        difference_texts(metadata("a"), metadata("a", leader=2), 12, IgnoredFields((pattern,)))
        == []
    )
    assert difference_texts(
        metadata("a"), metadata("a", leader=2), 12, IgnoredFields(("topics.leader_id",))
    )


def test_the_page_names_what_is_not_compared() -> None:
    page = (DOCS / "debuggers" / "replay.md").read_text()
    assert [pattern for pattern in IGNORED if f"`{pattern}`" not in page] == []


def fetched(*values: bytes, timestamp: int = 0) -> FetchResponse:
    records = [Record(value, timestamp=timestamp) for value in values]
    partition = PartitionData(records=build_batch(records, base_offset=5))
    return FetchResponse(responses=[FetchableTopicResponse(topic="t", partitions=[partition])])


def test_records_are_compared_one_by_one_without_their_times() -> None:
    assert difference_texts(fetched(b"a", b"b"), fetched(b"a", b"b", timestamp=9), 11) == []
    found = differences(fetched(b"a", b"b"), fetched(b"a", b"c", b"d"), 11, IgnoredFields())
    assert [pair.path.rpartition(".")[2] for pair in found] == ["records[1]", "records[2]"]


def test_what_grows_with_a_log_is_growth_and_nothing_else_is() -> None:
    def partition(watermark: int, *values: bytes, error: int = 0) -> FetchResponse:
        response = fetched(*values)
        response.responses[0].partitions[0].high_watermark = watermark
        response.responses[0].partitions[0].error_code = error
        return response

    def grown(left: Response, right: Response) -> list[bool]:
        return [pair.has_grown for pair in differences(left, right, 11, IgnoredFields())]

    nothing = partition(5)
    nothing.responses[0].partitions[0].records = b""
    assert grown(partition(6, b"a"), partition(8, b"a", b"b", b"c")) == [True, True, True]
    assert grown(nothing, partition(6, b"a")) == [True, True]
    assert grown(partition(8, b"a"), partition(6, b"a")) == [False]
    assert grown(partition(8, b"a", b"b"), partition(8, b"a")) == [False]
    assert grown(partition(8, b"a"), nothing) == [False, False]
    assert grown(partition(8, b"a"), partition(8, b"b", error=1)) == [False, False]


def test_the_page_names_what_grows() -> None:
    page = (DOCS / "debuggers" / "replay.md").read_text()
    assert [name for name in GROWING if f"`{name}`" not in page] == []


def test_fields_of_other_versions_and_secrets_are_not_compared() -> None:
    left, right = SaslAuthenticateResponse(auth_bytes=b"x"), SaslAuthenticateResponse()
    assert difference_texts(left, right, 2) == []
    assert difference_texts(metadata("a"), MetadataResponse(brokers=metadata().brokers), 0) == [
        "topics[a]: there → nothing"
    ]
