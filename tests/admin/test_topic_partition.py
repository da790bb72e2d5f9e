"""Partitions are written as Kafka's tools write them."""

import pytest

from kwire.admin.topic_partition import TopicPartition
from kwire.errors import InvalidValue


@pytest.mark.parametrize("text", ["orders-3", "a-b-c-0", "__consumer_offsets-49", "1.0-rc-12"])
def test_a_partition_reads_as_it_is_written(text: str) -> None:
    assert str(TopicPartition.parse(text)) == text


def test_the_last_dash_ends_the_topic() -> None:
    assert TopicPartition.parse("a-1-2") == TopicPartition("a-1", 2)


@pytest.mark.parametrize(
    "text", ["", "orders", "-3", "orders-", "orders-x", "a-³", "a--", "a-" + "9" * 5000]
)
def test_other_text_is_refused(text: str) -> None:
    with pytest.raises(InvalidValue, match="write TOPIC-PARTITION"):
        TopicPartition.parse(text)


def test_partitions_sort_by_number_not_by_text() -> None:
    texts = ["b-0", "a-10", "a-9"]
    assert list(map(str, sorted(map(TopicPartition.parse, texts)))) == ["a-9", "a-10", "b-0"]
