"""Reassignment files are read and written as Kafka's tool reads and writes them."""

import re

import pytest

from kwire.admin.reassignment.json_file import read_reassignment, reassignment_json
from kwire.admin.topic_partition import TopicPartition
from kwire.errors import InvalidValue

KAFKAS = (
    '{"version":1,"partitions":['
    '{"topic":"t1","partition":0,"replicas":[2],"log_dirs":["data2"]},'
    '{"topic":"t1","partition":1,"replicas":[1],"log_dirs":["data1"]}]}'
)
"""Printed by kafka-reassign-partitions --execute of Kafka 4.3.1, for a rollback."""


def test_the_file_for_a_rollback_that_kafka_prints_is_read() -> None:
    first, second = read_reassignment(KAFKAS, "r.json")
    assert (first.partition, first.replicas, first.log_dirs) == (
        TopicPartition("t1", 0),
        (2,),
        ("data2",),
    )
    assert second.partition == TopicPartition("t1", 1)


def test_the_file_is_written_as_kafka_writes_it() -> None:
    """As ReassignPartitionsCommand.formatAsReassignmentJson does, keys in the same order."""
    written = reassignment_json([(TopicPartition("t1", 0), (1, 2))])
    assert written == (
        '{"version":1,"partitions":'
        '[{"topic":"t1","partition":0,"replicas":[1,2],"log_dirs":["any","any"]}]}'
    )


def test_version_and_directories_may_be_left_out() -> None:
    (target,) = read_reassignment(
        '{"partitions":[{"topic":"a","partition":3,"replicas":[1,2]}]}', "r"
    )
    assert target.log_dirs == ("any", "any")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "r.json is no reassignment file: Input data was truncated"),
        ("[]", "Expected `object`, got `array`"),
        ('{"version":2,"partitions":[]}', "has version 2; only version 1 is known"),
        ('{"version":1}', "names no partition"),
        ('{"partitions":[{"topic":"a","partition":0,"replicas":[]}]}', "a-0 has no replicas"),
        (
            '{"partitions":[{"topic":"a","partition":0,"replicas":[1,1]}]}',
            "a-0 names a broker twice: [1, 1]",
        ),
        (
            '{"partitions":[{"topic":"a","partition":0,"replicas":[1]},'
            '{"topic":"a","partition":0,"replicas":[2]}]}',
            "names a-0 twice",
        ),
        (
            '{"partitions":[{"topic":"a","partition":0,"replicas":[1],"log_dirs":["any","any"]}]}',
            "a-0 has 1 replicas and 2 log_dirs",
        ),
        (
            '{"partitions":[{"topic":"a","partition":-1,"replicas":[1]}]}',
            "Expected `int` >= 0 - at `$.partitions[0].partition`",
        ),
        (
            '{"partitions":[{"topic":"a","partition":0,"replicas":[4294967296]}]}',
            "Expected `int` <= 2147483647 - at `$.partitions[0].replicas[0]`",
        ),
        ('{"partitions":[{"topic":"a","partition":0}]}', "missing required field `replicas`"),
    ],
)
def test_what_kafkas_tool_would_not_execute_is_refused(text: str, reason: str) -> None:
    with pytest.raises(InvalidValue, match=re.escape(reason)):
        read_reassignment(text, "r.json")


def test_text_that_is_no_utf_8_is_refused() -> None:
    with pytest.raises(InvalidValue, match="is no reassignment file"):
        read_reassignment(b'{"partitions":[{"topic":"\xff"}]}', "r.json")


def test_a_file_that_is_nested_too_deeply_is_refused() -> None:
    with pytest.raises(InvalidValue, match="deep is no reassignment file"):
        read_reassignment('{"version":1,"other":' + "[" * 100_000, "deep")
