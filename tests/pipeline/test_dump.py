"""The tables of a metadata log are what Java's DumpLogSegments prints of it."""

from base64 import b64encode
from collections.abc import Iterator
from itertools import groupby
from typing import Any

import pytest

from kwire import from_json, message, to_json
from kwire.codec.json_form import camel
from kwire.pipeline.typed import column_name
from tests.support.pipeline.dump_log_segments import DumpedRecord, dumped_records
from tests.support.pipeline.recorded_history import History
from tests.support.pipeline.tables import Tables

LOG = "00000000000000000000.log"
BOOTSTRAP = "00000000000000000000-0000000000.checkpoint"


@pytest.fixture(scope="module")
def dumped(history: History) -> list[DumpedRecord]:
    """The log of node 3000, as Java prints it."""
    return list(dumped_records(history.dumped[LOG]))


def in_kafkas_json(value: Any) -> Any:
    """The values of a struct column under Kafka's names."""
    if isinstance(value, dict):
        return {camel(name): in_kafkas_json(one) for name, one in value.items()}
    if isinstance(value, list):
        return [in_kafkas_json(one) for one in value]
    return b64encode(value).decode() if isinstance(value, bytes | bytearray) else value


def as_java(row: dict[str, Any]) -> DumpedRecord:
    """A row of `records` as Java prints it: what a version does not have is not shown."""
    struct = in_kafkas_json(row.get(column_name(row["name"])) or {})
    cls = message(row["name"])
    data = to_json(from_json(cls, struct, row["version"]), row["version"])
    at = round(row["at"].timestamp() * 1000)
    return DumpedRecord(row["offset"], row["epoch"], at, row["name"], row["version"], data)


@pytest.mark.parametrize("file", [LOG, BOOTSTRAP])
def test_records_are_what_java_prints(tables: Tables, history: History, file: str) -> None:
    found = tables["records"].where(f"file like '%/{file}'").orderBy("offset").collect()
    rows = [row.asDict(recursive=True) for row in found]
    assert [row["error"] for row in rows] == [None] * len(rows)
    assert [as_java(row) for row in rows] == list(dumped_records(history.dumped[file]))


def test_the_quorum_is_what_java_prints(tables: Tables, dumped: list[DumpedRecord]) -> None:
    found = tables["quorum"].where("source = 'LOG'").orderBy("offset").collect()
    leaders = [
        (record.offset, record.epoch, record.data["leaderId"], ids(record.data["grantingVoters"]))
        for record in dumped
        if record.name == "LeaderChangeMessage"
    ]
    assert [
        (row["offset"], row["epoch"], row["leader_id"], row["granting"])
        for row in found
        if row["what"] == "LEADER_CHANGE"
    ] == leaders
    voters = [
        (record.offset, list(map(voter, record.data["voters"])))
        for record in dumped
        if record.name == "VotersRecord"
    ]
    assert [
        (row["offset"], [(v["id"], v["directory_id"], v["endpoints"]) for v in row["voters"]])
        for row in found
        if row["what"] == "VOTERS"
    ] == voters
    assert len(leaders) >= 2
    # A leader that finds its own entry out of date writes the same voters once more.
    keys = [
        {(node_id, directory_id) for node_id, directory_id, _ in listed} for _, listed in voters
    ]
    assert [len(changed) for changed, _ in groupby(keys)] == [3, 4, 3]


def ids(voters: list[dict[str, Any]]) -> list[int]:
    return [one["voterId"] for one in voters]


def voter(one: dict[str, Any]) -> tuple[int, str, list[str]]:
    endpoints = [f"{at['name']}://{at['host']}:{at['port']}" for at in one["endpoints"]]
    return one["voterId"], one["voterDirectoryId"], endpoints


def states(dumped: list[DumpedRecord]) -> Iterator[tuple[Any, ...]]:
    """The states of partitions, by Kafka's rules, from what Java prints."""
    topics: dict[str, str] = {}
    known: dict[tuple[str, int], dict[str, Any]] = {}
    for record in dumped:
        data = record.data
        if record.name == "TopicRecord":
            topics[data["topicId"]] = data["name"]
        if record.name not in ("PartitionRecord", "PartitionChangeRecord"):
            continue
        key = (data["topicId"], data["partitionId"])
        state = dict(known.get(key, {})) | data
        if record.name == "PartitionChangeRecord":
            before = known[key]
            state["partitionEpoch"] = before["partitionEpoch"] + 1
            state["leaderEpoch"] = before["leaderEpoch"] + ("leader" in data)
        known[key] = state
        yield (
            *(record.offset, topics[key[0]], key[1], state["leader"], state["leaderEpoch"]),
            *(state["partitionEpoch"], state["replicas"], state["isr"]),
            state.get("eligibleLeaderReplicas") or [],
        )


def test_partitions_are_what_java_prints(tables: Tables, dumped: list[DumpedRecord]) -> None:
    columns = (
        *("offset", "topic", "partition", "leader", "leader_epoch", "partition_epoch"),
        *("replicas", "isr", "elr"),
    )
    found = tables["partitions"].orderBy("offset").select(*columns).collect()
    expected = list(states(dumped))
    assert [tuple(row) for row in found] == expected
    assert len(expected) > 12
