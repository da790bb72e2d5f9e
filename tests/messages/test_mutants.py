"""Damaged messages: kwire's verdict against that of Kafka's classes, and engine against engine.

What still differs is listed in docs/reference/codec-conformance.md. For a longer run:
KWIRE_MUTANTS=40 KWIRE_SEED=<number>.
"""

import os
import re
from collections import Counter
from typing import Any

import pytest

import kwire
import real_kafka
import vectors
from engines import REDEFINED, Failed, decoded, encoded, same, side_by_side
from protocol_facts.pages import changes
from tests.support.seed import SEED
from vectors import Mutant

pytestmark = pytest.mark.java

EACH = int(os.environ.get("KWIRE_MUTANTS", vectors.EACH))
PARITY = 0.995

LATER_TAGS = {
    ("4.3.1", "StreamsGroupMetadataValue", 0),
    ("3.9.1", "ConsumerGroupCurrentMemberAssignmentValue", 0),
    ("3.9.1", "ConsumerGroupMetadataValue", 0),
    ("3.9.1", "ConsumerGroupTargetAssignmentMetadataValue", 0),
    ("3.9.1", "OffsetCommitValue", 4),
    ("3.9.1", "RemoteLogSegmentMetadataRecord", 0),
    ("3.9.1", "RemoteLogSegmentMetadataSnapshotRecord", 0),
    ("3.9.1", "TransactionLogValue", 1),
}
"""What a later release gave tagged fields within a version, to which they are unknown bytes."""

NEGATIVE_COUNT = re.compile(r"-\d+ tagged fields$")
"""A struct with that many was read as one without until Kafka 4.4, which refuses it."""

WRITTEN = {"not UTF-8", "tags out of order", "default in a tag"}
"""Differences of the bytes that are written back, not of the verdict."""

NAMED = {
    None,
    *WRITTEN,
    "tag of a later version",
    "tag of a later release",
    "negative number of tags",
}
"""The differences that docs/reference/codec-conformance.md explains."""


def difference(mutant: Mutant) -> str | None:
    """The name of what kwire makes of these bytes and Kafka does not; None where they agree."""
    found = judged_otherwise(mutant)
    if (mutant.release, mutant.name, mutant.version) in LATER_TAGS:
        return found if found in NAMED else "tag of a later release"
    return found


def judged_otherwise(mutant: Mutant) -> str | None:
    engine, _ = side_by_side(kwire.message(mutant.name), mutant.version)["reference"]
    read = decoded(engine, mutant.data)
    if isinstance(read, Failed):
        if not mutant.accepted:
            return None
        older = mutant.release != real_kafka.VERSIONS[0]
        counted = older and NEGATIVE_COUNT.search(read.words)
        return "negative number of tags" if counted else "only Kafka accepts"
    if not mutant.accepted:
        later = mutant.error and "is not valid for version" in mutant.error
        return "tag of a later version" if later else "only kwire accepts"
    obj, end = read
    if end != len(mutant.data) - mutant.remaining:
        return "left over"
    return written_otherwise(mutant, obj, encoded(engine, obj), mutant.data[:end])


def written_otherwise(mutant: Mutant, obj: Any, written: Any, read: bytes) -> str | None:
    if mutant.encode_error is not None:
        if isinstance(written, Failed):
            return None
        order = "tag" in mutant.encode_error
        return "tags out of order" if order else "only kwire writes"
    kafka = read if mutant.encoded is None else mutant.encoded
    if written == kafka:
        return None
    if "\\udc" in repr(obj):
        return "not UTF-8"
    return "default in a tag" if written == read else "written otherwise"


def test_later_tags_are_those_of_the_list_of_changes() -> None:
    found: set[tuple[str, str, int]] = set()
    later: list[str] = []
    for line in changes().splitlines():
        if heading := re.match(r"### Fields, (\S+) to ", line):
            later = [r for r in real_kafka.VERSIONS if r <= heading[1]]
        elif added := re.match(r"\| added \| (\w+) \| .* versions (\d+)\+, tag ", line):
            found |= {(release, added[1], int(added[2])) for release in later}
    known = {
        (release, vector.name, vector.version)
        for release in real_kafka.VERSIONS
        for vector in vectors.messages(release)
    }
    assert found & known == LATER_TAGS


@pytest.mark.parametrize("release", real_kafka.VERSIONS)
def test_verdicts_and_bytes_are_kafkas_but_for_the_differences_we_name(release: str) -> None:
    found: Counter[str | None] = Counter()
    for mutant in vectors.mutants(release, seed=SEED, each=EACH):
        if (release, mutant.name, mutant.version) not in REDEFINED:
            found[difference(mutant)] += 1
    assert found.keys() <= NAMED, f"seed {SEED}: {found}"
    verdicts = found.total() - sum(found[bytes_only] for bytes_only in (None, *WRITTEN))
    assert verdicts <= (1 - PARITY) * found.total()
    print(f"{release}: {found.total()} mutants, {dict(found)}")  # noqa: T201


@pytest.mark.parametrize("release", real_kafka.VERSIONS)
def test_engines_agree_on_every_mutant_errors_and_their_places_included(release: str) -> None:
    wrong = []
    for mutant in vectors.mutants(release, seed=SEED, each=EACH):
        engines = side_by_side(kwire.message(mutant.name), mutant.version)
        expected = decoded(engines["reference"][0], mutant.data)
        for name, (engine, _) in engines.items():
            read = decoded(engine, mutant.data)
            rewritten = None if isinstance(read, Failed) else encoded(engine, read[0])
            again = None if isinstance(read, Failed) else encoded(engines["reference"][0], read[0])
            if not same(read, expected) or rewritten != again:
                wrong.append((name, mutant.name, mutant.version, mutant.data.hex()))
    assert not wrong, f"seed {SEED}"
