"""Rebalances of classic groups and of those whose coordinator assigns, on hand-made bodies."""

import json
from collections.abc import Iterator
from itertools import count
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from kwire.pipeline.analyses.rebalances import group_errors, rebalance_events, rebalances
from tests.support.pipeline.analyses.table_rows import row_values, rows, second

EVENTS: Iterator[int] = count()
OK = {"error_code": 0}


def exchange(
    api: str, at: float, asked: dict[str, Any], until: float, answer: dict[str, Any] | None
) -> list[dict[str, Any]]:
    """A request and its response, as rows of `messages`."""
    key = {"capture": "a", "connection": 1, "event": next(EVENTS), "api": api}
    request = key | {"kind": "REQUEST", "at": second(at), "body": json.dumps(asked)}
    if answer is None:
        return [request]
    return [request, key | {"kind": "RESPONSE", "at": second(until), "body": json.dumps(answer)}]


def join(member: str, at: float, until: float, generation: int, error: int = 0) -> list[Any]:
    asked = {"group_id": "books", "member_id": ""}
    answer = {"error_code": error, "generation_id": generation, "member_id": member}
    return exchange("JoinGroup", at, asked, until, answer)


def sync(member: str, at: float, until: float, generation: int) -> list[Any]:
    asked = {"group_id": "books", "member_id": member, "generation_id": generation}
    return exchange("SyncGroup", at, asked, until, OK)


def beat(at: float, error: int) -> list[Any]:
    asked = {"group_id": "books", "member_id": "m1", "generation_id": 1}
    return exchange("Heartbeat", at, asked, at + 0.1, {"error_code": error})


def assigned(api: str, at: float, epoch: int, following: int, error: int = 0) -> list[Any]:
    asked = {"group_id": "carts", "member_id": "c1", "member_epoch": epoch}
    answer = {"error_code": error, "member_id": None, "member_epoch": following}
    return exchange(api, at, asked, at + 0.5, answer)


def messages(spark: SparkSession, *exchanges: list[Any]) -> DataFrame:
    found = [row for pair in exchanges for row in pair]
    return rows(spark, "messages", *found, columns="client_id")


def night(spark: SparkSession) -> DataFrame:
    return messages(
        spark,
        join("m1", 0, 0.1, -1, error=79),
        join("m1", 1, 4, 1),
        sync("m1", 4, 5, 1),
        beat(10, 0),
        beat(20, 27),
        join("m1", 20, 23, 2),
        join("m2", 19, 23, 2),
        sync("m1", 23, 24, 2),
        sync("m2", 23, 26, 2),
        beat(30, 27),
        beat(31, 25),
        exchange("LeaveGroup", 40, {"group_id": "books", "member_id": "m1"}, 41, OK),
        join("m3", 5000, 5002, 2),
        exchange("JoinGroup", 5003, {"group_id": "books", "member_id": ""}, 0, None),
    )


def test_a_generation_is_a_rebalance(spark: SparkSession) -> None:
    begin = [second(at).replace(tzinfo=None) for at in (1, 19, 5000)]
    end = [second(at).replace(tzinfo=None) for at in (5, 26, 5002)]
    assert row_values(rebalance_events(night(spark)).drop("cluster_id")) == [
        ("books", "CLASSIC", 1, begin[0], end[0], 1, 4000.0),
        ("books", "CLASSIC", 2, begin[1], end[1], 2, 7000.0),
        # The group was deleted, and begins to count again.
        ("books", "CLASSIC", 2, begin[2], end[2], 1, 2000.0),
    ]
    (row,) = rebalances(night(spark)).collect()
    assert tuple(row)[1:9] == ("books", "CLASSIC", 3, 2, begin[0], begin[2], 7000.0, 13000.0)
    assert row.left == 1
    assert [tuple(error) for error in row.errors] == [
        (2, "REBALANCE_IN_PROGRESS"),
        (1, "UNKNOWN_MEMBER_ID"),
    ]
    assert [row.api for row in group_errors(night(spark)).collect()] == ["Heartbeat"] * 3


def test_a_higher_epoch_is_a_rebalance(spark: SparkSession) -> None:
    api = "ConsumerGroupHeartbeat"
    told = messages(
        spark,
        assigned(api, 0, 0, 1),
        assigned(api, 5, 1, 1),
        assigned(api, 10, 1, 3),
        assigned(api, 15, 3, 0, error=110),
        assigned(api, 20, -1, -1),
        assigned("ShareGroupHeartbeat", 30, 7, 7),
    )
    assert [
        (row[1], row[2], row[6]) for row in row_values(rebalance_events(told).drop("cluster_id"))
    ] == [
        ("CONSUMER", 1, 500.0),
        ("CONSUMER", 3, 500.0),
    ]
    consumer, share = rebalances(told).collect()
    assert (consumer.protocol, consumer.rebalances, consumer.members, consumer.left) == (
        *("CONSUMER", 2, 1),
        1,
    )
    assert [tuple(error) for error in consumer.errors] == [(1, "FENCED_MEMBER_EPOCH")]
    assert (share.protocol, share.rebalances, share.members, share.errors) == ("SHARE", 0, None, [])
    assert row_values(rebalances(told.limit(0)).drop("cluster_id")) == []
