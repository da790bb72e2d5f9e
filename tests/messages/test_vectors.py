"""Every message that Kafka's classes wrote: all engines read it, write it, and print its JSON.

Longer: KWIRE_INSTANCES=100 KWIRE_SEED=<number>.
"""

import os
from collections import Counter
from collections.abc import Mapping
from typing import Any

import pytest

import kwire
import real_kafka
import vectors
from engines import REDEFINED, Failed, decoded, encoded, same, side_by_side
from tests.support.seed import SEED
from vectors import Vector
from vectors.hidden import kept, lost_by_kafka

pytestmark = pytest.mark.java

INSTANCES = int(os.environ.get("KWIRE_INSTANCES", vectors.INSTANCES))
PAIRS = {"4.4.0": 744, "4.3.1": 728, "3.9.1": 740}
RENAMED = {
    "VoteRequest": {
        f"candidate{name}": f"replica{name}" for name in ("DirectoryId", "Epoch", "Id")
    },
    "TxnOffsetCommitRequest": {"generationId": "generationIdOrMemberEpoch"},
    "StreamsGroupHeartbeatResponse": {"acceptableRecoveryLag": "acceptableRecoveryLagLegacy"},
}
"""Fields that a later release renamed, by message; a declaration has one name for all versions."""


def unequal(vector: Vector) -> list[str]:
    """The engines that do not read, or do not write, what Kafka wrote, or need help for it."""
    engines = side_by_side(kwire.message(vector.name), vector.version)
    expected = decoded(engines["reference"][0], vector.data)
    wrong = []
    for name, (engine, watched) in engines.items():
        watched.left = 0
        read = decoded(engine, vector.data)
        written = None if isinstance(read, Failed) else encoded(engine, read[0])
        helped = watched.left and engine is not watched
        if not same(read, expected) or written != vector.data or helped:
            wrong.append(name)
    return wrong


@pytest.mark.parametrize("release", PAIRS)
def test_every_engine_reads_and_writes_what_kafka_writes_to_the_byte(release: str) -> None:
    seen: Counter[tuple[str, int]] = Counter()
    wrong: set[tuple[str, str, int]] = set()
    for vector in vectors.messages(release, seed=SEED, instances=INSTANCES):
        seen[vector.name, vector.version] += 1
        if unequal(vector):
            wrong.add((release, vector.name, vector.version))
    assert wrong == {pair for pair in REDEFINED if pair[0] == release}, f"seed {SEED}"
    assert len(seen) == PAIRS[release]
    assert set(seen.values()) == {INSTANCES}
    print(f"{release}: {seen.total()} instances, {len(seen)} pairs, {len(wrong)} redefined")  # noqa: T201


@pytest.mark.parametrize("release", PAIRS)
def test_every_message_prints_as_kafkas_converter_prints_it_and_reads_back(release: str) -> None:
    wrong = set()
    for vector in vectors.messages(release, seed=SEED, instances=INSTANCES):
        if (release, vector.name, vector.version) not in REDEFINED and not prints(vector):
            wrong.add((vector.name, vector.version))
    assert not wrong, f"seed {SEED}"


def prints(vector: Vector) -> bool:
    cls = kwire.message(vector.name)
    obj = cls.decode(vector.data, vector.version)
    exact = kwire.to_json(obj, vector.version)
    newest = vector.release == real_kafka.VERSIONS[0]
    kafka = vector.json if newest else renamed(vector.json, RENAMED.get(vector.name, {}))
    return (
        kwire.to_json(obj, vector.version, exact=False) == kafka
        and kept(exact) == lost_by_kafka(vector)
        and same(kwire.from_json(cls, exact, vector.version), obj)
    )


def renamed(tree: Any, names: Mapping[str, str]) -> Any:
    if isinstance(tree, dict):
        return {names.get(name, name): renamed(value, names) for name, value in tree.items()}
    return [renamed(value, names) for value in tree] if isinstance(tree, list) else tree
