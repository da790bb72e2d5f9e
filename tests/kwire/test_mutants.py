"""Damaged messages: kwire's verdict against that of Kafka's classes, and engine against engine.

What still differs is listed in docs/conformance.md. Longer: KWIRE_MUTANTS=40 KWIRE_SEED=<number>.
"""

import os
from collections import Counter
from typing import Any

import pytest

import kwire
import vectors
from engines import REDEFINED, Failed, decoded, encoded, same, side_by_side
from vectors import Mutant

pytestmark = pytest.mark.java

SEED = int(os.environ.get("KWIRE_SEED", vectors.SEED))
EACH = int(os.environ.get("KWIRE_MUTANTS", vectors.EACH))
PARITY = 0.995

LATER_TAGS = {
    ("ConsumerGroupMetadataValue", 0),
    ("ConsumerGroupTargetAssignmentMetadataValue", 0),
    ("OffsetCommitValue", 4),
    ("RemoteLogSegmentMetadataRecord", 0),
    ("RemoteLogSegmentMetadataSnapshotRecord", 0),
    ("TransactionLogValue", 1),
}
"""What 4.3 gave tagged fields within a version of 3.9, to which they are unknown bytes."""

NAMED = {
    None,
    "not UTF-8",
    "tags out of order",
    "tag of a later version",
    "tag of a later release",
}
"""The differences that docs/conformance.md explains."""


def difference(mutant: Mutant) -> str | None:
    """The name of what kwire makes of these bytes and Kafka does not; None where they agree."""
    found = judged_otherwise(mutant)
    if mutant.release == "3.9.1" and (mutant.name, mutant.version) in LATER_TAGS:
        return found if found in NAMED else "tag of a later release"
    return found


def judged_otherwise(mutant: Mutant) -> str | None:
    engine, _ = side_by_side(kwire.message(mutant.name), mutant.version)["reference"]
    read = decoded(engine, mutant.data)
    if isinstance(read, Failed):
        return "only Kafka accepts" if mutant.accepted else None
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
    return "not UTF-8" if "\\udc" in repr(obj) else "written otherwise"


@pytest.mark.parametrize("release", ["4.3.1", "3.9.1"])
def test_verdicts_and_bytes_are_kafkas_but_for_the_differences_we_name(release: str) -> None:
    found: Counter[str | None] = Counter()
    for mutant in vectors.mutants(release, seed=SEED, each=EACH):
        if (release, mutant.name, mutant.version) not in REDEFINED:
            found[difference(mutant)] += 1
    assert found.keys() <= NAMED, f"seed {SEED}: {found}"
    verdicts = found["tag of a later version"] + found["tag of a later release"]
    assert verdicts <= (1 - PARITY) * found.total()
    print(f"{release}: {found.total()} mutants, {dict(found)}")  # noqa: T201


@pytest.mark.parametrize("release", ["4.3.1", "3.9.1"])
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
