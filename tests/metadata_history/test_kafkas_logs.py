"""The history of logs of three releases, judged by what Kafka's DumpLogSegments prints of them."""

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from kwire.metadata_history.history import LoggedChange, blame
from kwire.metadata_history.reading import stored_history
from tests.support.paths import FIXTURES

LOGS = FIXTURES / "logdirs"
HISTORIES = ("kafka-3.9.1-history", "kafka-4.4.0-history")
_RECORD = re.compile(r"\| offset: (\d+) CreateTime: (\d+) .* payload: (\{.*)")
_KINDS = {2: "TOPIC", 4: "BROKER"}


def dumped(folder: Path) -> Iterator[tuple[int, int, str, dict[str, Any]]]:
    """Yield offset, time, type and fields of every record that Kafka's tool printed."""
    for line in (folder / "dump.txt").read_text().splitlines():
        if match := _RECORD.fullmatch(line):
            record = json.loads(match[3])
            yield int(match[1]), int(match[2]), record["type"], record["data"]


def expected(type: str, data: dict[str, Any]) -> tuple[str, str | None, Any] | None:
    """Return path, field and value that a record of Kafka's sets; None for other records."""
    match type:
        case "CONFIG_RECORD":
            kind, name = _KINDS[data["resourceType"]], data["resourceName"]
            resource = f"{kind}:{name}" if name else kind
            return f"/configs/{resource}/{data['name']}", None, data["value"]
        case "CLIENT_QUOTA_RECORD":
            return "/quotas/user(alice)/producer_byte_rate", None, data["value"]
        case "BROKER_REGISTRATION_CHANGE_RECORD" if "fenced" in data:
            return f"/brokers/{data['brokerId']}", "fenced", data["fenced"] == 1
    return None


@pytest.fixture(params=HISTORIES)
def folder(request: pytest.FixtureRequest) -> Path:
    return LOGS / str(request.param)


@pytest.fixture
def changes(folder: Path) -> list[LoggedChange]:
    return list(stored_history(folder).changes())


def test_every_record_of_kafkas_dump_is_a_change_at_its_offset(
    folder: Path, changes: list[LoggedChange]
) -> None:
    found = {
        (change.place.offset, change.entry.path, change.entry.field): change for change in changes
    }
    seen, before = 0, dict[tuple[str, str | None], Any]()
    for offset, time, type, data in dumped(folder):
        wanted = expected(type, data)
        if wanted is None:
            continue
        path, field, value = wanted
        change = found[offset, path, field]
        assert change.place.timestamp == time
        assert change.entry.after == value
        if (path, field) in before:
            assert change.entry.before == before[path, field]
        before[path, field] = value
        seen += 1
    assert seen >= 8


def test_topics_rules_and_leaders_are_those_of_the_dump(
    folder: Path, changes: list[LoggedChange]
) -> None:
    records = list(dumped(folder))
    topics = {data["name"]: offset for offset, _, type, data in records if type == "TOPIC_RECORD"}
    created = {
        change.entry.path.removeprefix("/topics/"): change.place.offset
        for change in changes
        if change.entry.path.startswith("/topics/")
        and change.entry.field is None
        and change.entry.before is None
    }
    assert created == topics
    for type, sets in (
        ("ACCESS_CONTROL_ENTRY_RECORD", True),
        ("REMOVE_ACCESS_CONTROL_ENTRY_RECORD", False),
    ):
        (record,) = [(offset, data["id"]) for offset, _, name, data in records if name == type]
        assert record in [
            (change.place.offset, change.entry.path.removeprefix("/acls/"))
            for change in changes
            if (change.entry.after is not None) is sets
        ]
    epochs = [change.place for change in changes if change.entry.path == "/raft/leader"]
    assert [(place.epoch, place.leader_id) for place in epochs] == [(1, 1), (2, 1)]


def test_blame_names_the_last_record_of_each_isr_and_leader(
    folder: Path, changes: list[LoggedChange]
) -> None:
    last: dict[tuple[int, str], int] = {}
    leader: dict[int, int] = {}
    topic = next(
        data["topicId"]
        for _, _, type, data in dumped(folder)
        if type == "TOPIC_RECORD" and data["name"] == "orders"
    )
    for offset, _, type, data in dumped(folder):
        if type.startswith("PARTITION_") and data["topicId"] == topic and "leader" in data:
            number = data["partitionId"]
            if leader.get(number) != data["leader"]:
                leader[number], last[number, "leader"] = data["leader"], offset
    blamed = {
        (change.entry.path, change.entry.field): change.place.offset for change in blame(changes)
    }
    assert set(leader) == {0, 1, 2}
    # The record of a new topic stands for all of it.
    for (number, field), offset in last.items():
        assert blamed[f"/partitions/orders-{number}", field] == offset


def test_the_times_are_those_of_the_leaders_clock() -> None:
    changes = stored_history(LOGS / "kafka-4.3.1-brokers").changes()
    topic = next(change for change in changes if change.entry.path == "/topics/orders")
    assert (
        topic.place.timestamp == 1000 * datetime(2026, 11, 21, 11, 5, 12, 906000, UTC).timestamp()
    )
