"""Damaged messages: how many, the same each time, Java's verdict in all its shades."""

from collections import Counter

import pytest

import vectors

pytestmark = pytest.mark.java

MUTATIONS = {"APPEND", "TRUNCATE", "BIT", "BYTE", "INT32", "VARINT", "SPLICE", "LENGTH"}


@pytest.mark.parametrize(("release", "pairs"), [("4.4.0", 744), ("4.3.1", 728), ("3.9.1", 740)])
def test_every_pair_is_damaged_in_every_way(release: str, pairs: int) -> None:
    seen: Counter[str] = Counter()
    verdicts: Counter[str] = Counter()
    for mutant in vectors.mutants(release):
        seen[mutant.mutation] += 1
        verdicts["accepted" if mutant.accepted else "rejected"] += 1
        verdicts["left over"] += mutant.accepted and mutant.remaining > 0
        verdicts["written differently"] += mutant.encoded is not None
        verdicts["cannot be written"] += mutant.encode_error is not None
    assert seen == dict.fromkeys(MUTATIONS, pairs * vectors.EACH)
    assert verdicts.total() > pairs * 48
    assert min(verdicts["accepted"], verdicts["rejected"]) > 10_000
    assert min(verdicts["left over"], verdicts["written differently"]) > 2_000
    assert verdicts["cannot be written"] > 0


def test_a_rejection_names_its_reason_and_reads_nothing() -> None:
    reasons: Counter[str] = Counter()
    for mutant in vectors.mutants("4.3.1"):
        if mutant.error is not None:
            reasons[mutant.error.split(":")[0]] += 1
            assert mutant.remaining == len(mutant.data)
            assert mutant.encoded is None
    assert {"RuntimeException", "BufferUnderflowException"} <= set(reasons)
    assert "OutOfMemoryError" not in reasons


def test_bytes_appended_to_a_message_are_left_over() -> None:
    appended = [m for m in vectors.mutants("4.3.1") if m.mutation == "APPEND"]
    harmless = [m for m in appended if m.accepted and 0 < m.remaining <= 8 and m.encoded is None]
    assert len(harmless) / len(appended) > 0.9
