"""Kafka's own classes make the vectors: how many, the same each time, checked by Java itself."""

import gzip
from collections import Counter
from pathlib import Path
from typing import Any, cast

import pytest

import vectors
from vectors.program import run

pytestmark = pytest.mark.java

PAIRS = {
    "4.4.0": {"request": 309, "response": 309, "header": 4, "metadata": 42, "data": 21}
    | {"coordinator-key": 25, "coordinator-value": 34},
    "4.3.1": {"request": 302, "response": 302, "header": 4, "metadata": 41, "data": 20}
    | {"coordinator-key": 25, "coordinator-value": 34},
    "3.9.1": {"request": 323, "response": 323, "header": 5, "metadata": 38, "data": 51},
}
TYPES = {"4.4.0": 278, "4.3.1": 272, "3.9.1": 240}


def of_type(counts: dict[str, int]) -> dict[str, int]:
    """Add up the kinds (type/source) of one schema type."""
    types: Counter[str] = Counter()
    for kind, count in counts.items():
        types[kind.split("/")[0]] += count
    return dict(types)


@pytest.mark.parametrize("release", PAIRS)
def test_every_pair_of_the_release_has_its_instances(release: str) -> None:
    seen = Counter((v.kind, v.name, v.version) for v in vectors.messages(release))
    assert set(seen.values()) == {vectors.INSTANCES}
    assert of_type(Counter(kind for kind, _, _ in seen)) == PAIRS[release]
    assert len({(kind, name) for kind, name, _ in seen}) == TYPES[release]


@pytest.mark.parametrize("release", PAIRS)
def test_java_checked_every_instance_itself(release: str) -> None:
    summary = vectors.summary(release)
    assert of_type(summary.pairs) == PAIRS[release]
    assert sum(summary.types.values()) == TYPES[release]
    assert summary.checked == sum(PAIRS[release].values()) * vectors.INSTANCES
    nans = sum('"NaN"' in repr(v.json).replace("'", '"') for v in vectors.messages(release))
    assert summary.not_equal_to_themselves == nans


def test_a_seed_makes_the_same_bytes_and_another_seed_others(tmp_path: Path) -> None:
    def made(seed: int) -> bytes:
        run("4.3.1", "messages", str(seed), "3", str(tmp_path / "out"))
        return gzip.decompress((tmp_path / "out").read_bytes())

    first = made(1)
    assert made(1) == first
    assert made(2) != first


def test_the_values_reach_every_edge_of_the_wire() -> None:
    sizes: Counter[str] = Counter()
    for vector in vectors.messages("4.3.1"):
        sizes["unknown tags"] += bool(vector.unknown_tags)
        sizes["records"] += bool(vector.records)
        sizes[vector.profile] += 1
        if vector.profile in ("BIG_STRINGS", "BIG_ARRAYS"):
            count_edges(vector.json, sizes)
    assert sizes["unknown tags"] > 2000
    assert sizes["records"] > 200
    assert sizes["strings over 16383 bytes"] > 200
    assert sizes["strings over 127 bytes"] > 1000
    assert sizes["arrays over 127 scalars"] > 50
    assert sizes["arrays over 126 structs"] > 200
    assert sizes["RANDOM"] == 728 * 10
    assert sizes["SANE"] == 728 * 4
    assert {sizes[edge] for edge in ("DEFAULTS", "MAX", "NULLS", "MIN")} == {728}


def test_where_a_pair_has_tags_its_largest_instance_has_unknown_ones_in_every_struct() -> None:
    tagged = {(v.name, v.version) for v in vectors.messages("4.3.1") if v.unknown_tags}
    largest = [v for v in vectors.messages("4.3.1") if v.profile == "MAX"]
    assert {(v.name, v.version) for v in largest if "" in v.unknown_tags} == tagged
    assert len(tagged) > 300
    (voters,) = (v for v in largest if v.name == "AddRaftVoterRequest" and v.version == 1)
    assert set(voters.unknown_tags) == {"", "listeners[0]", "listeners[1]"}


def count_edges(json: object, sizes: Counter[str]) -> None:
    """Count the lengths of a message that need more than one length byte on the wire."""
    if isinstance(json, str):
        length = len(json.encode())
        sizes["strings over 16383 bytes"] += length > 16383
        sizes["strings over 127 bytes"] += length > 127
    elif isinstance(json, list):
        structs = bool(json) and isinstance(json[0], dict)
        sizes["arrays over 126 structs"] += structs and len(json) > 126
        sizes["arrays over 127 scalars"] += not structs and len(json) > 127
        for element in json:
            count_edges(element, sizes)
    elif isinstance(json, dict):
        for element in json.values():
            count_edges(element, sizes)


def test_the_defaults_of_add_raft_voter_are_the_bytes_of_kip_853() -> None:
    # cluster id "" (nullable compact: 1 + 0 bytes), timeout and voter id 0, a zero directory id,
    # no listeners (compact: 1), ack_when_committed true (since version 1), no tagged fields.
    fields = "01 00000000 00000000" + "00" * 16 + "01"
    expected = {0: bytes.fromhex(fields + "00"), 1: bytes.fromhex(fields + "01 00")}
    assert {
        v.version: v.data
        for v in vectors.messages("4.3.1")
        if v.name == "AddRaftVoterRequest" and v.profile == "DEFAULTS"
    } == expected


def test_paths_lead_to_the_records_that_the_json_leaves_empty() -> None:
    for vector in vectors.messages("4.3.1"):
        if vector.name == "FetchResponse" and vector.version == 18 and vector.profile == "SANE":
            json = cast(dict[str, Any], vector.json)["responses"]
            for path in vector.records:
                assert path.startswith("responses[")
                assert path.endswith("].records")
            assert len(vector.records) == sum(
                partition["records"] == ""
                for response in json
                for partition in response["partitions"]
            )
