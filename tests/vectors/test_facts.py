"""The tables of Kafka's code, against what its documentation and its KIPs say."""

from typing import Any

import pytest

import vectors

pytestmark = pytest.mark.java


def by(rows: list[dict[str, Any]], key: str) -> dict[Any, dict[str, Any]]:
    """Rows by one of their columns, which tells them all apart."""
    found = {row[key]: row for row in rows}
    assert len(found) == len(rows)
    return found


@pytest.mark.parametrize(("release", "last"), [("4.4.0", 136), ("4.3.1", 133), ("3.9.1", 127)])
def test_error_codes_have_no_gap_and_know_what_is_retriable(release: str, last: int) -> None:
    errors = by(vectors.facts(release)["errors"], "code")
    assert sorted(errors) == list(range(-1, last + 1))
    assert errors[0]["name"] == "NONE"
    assert errors[0]["exception"] is None
    assert errors[6]["name"] == "NOT_LEADER_OR_FOLLOWER"
    assert errors[6]["retriable"]
    assert errors[6]["invalid_metadata"]
    assert errors[126] == {
        "code": 126,
        "name": "DUPLICATE_VOTER",
        "exception": "DuplicateVoterException",
        "retriable": False,
        "invalid_metadata": False,
    }


@pytest.mark.parametrize(("release", "count"), [("4.4.0", 91), ("4.3.1", 89), ("3.9.1", 88)])
def test_api_keys_know_their_header_versions(release: str, count: int) -> None:
    keys = by(vectors.facts(release)["api_keys"], "key")
    assert len(keys) == count
    # KIP-511: the answer to ApiVersions never has a flexible header, so that anyone can read it.
    assert {response for _, _, response in keys[18]["version_to_header_versions"]} == {0}
    assert keys[80]["name"] == "ADD_RAFT_VOTER"
    assert keys[80]["version_to_header_versions"][0] == [0, 2, 1]
    assert "controller" in keys[80]["listeners"]


def test_metadata_levels_choose_record_versions() -> None:
    table = vectors.facts("4.3.1")["metadata_version"]
    levels = by(table["levels"], "level")
    assert sorted(levels) == list(range(7, 32))
    assert levels[table["latest_production"]]["version"] == "4.3-IV0"
    # KIP-858 brought directories to partitions (3.7-IV2), KIP-919 registered controllers (3.7-IV0).
    assert levels[17]["versions"]["partitionRecordVersion"] == 1
    assert levels[16]["versions"]["partitionRecordVersion"] == 0
    assert levels[15]["versions"]["registerControllerRecordVersion"] == 0
    assert levels[14]["versions"]["registerControllerRecordVersion"] is None


def test_features_default_with_the_metadata_level() -> None:
    features = by(vectors.facts("4.3.1")["features"], "name")
    assert sorted(features) == [
        "eligible.leader.replicas.version",
        "group.version",
        "kraft.version",
        "share.version",
        "streams.version",
        "transaction.version",
    ]
    # KIP-853 came with 3.9-IV0 (level 21).
    assert features["kraft.version"]["default_by_metadata_level"]["20"] == 0
    assert features["kraft.version"]["default_by_metadata_level"]["21"] == 1
    assert vectors.facts("4.3.1")["kraft_version"][1]["votersRecordVersion"] == 0
