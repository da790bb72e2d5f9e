"""The native engine under attack, briefly; `make sanitize` does it at length."""

from __future__ import annotations

import pytest

from tests.support.codec.native import attack


@pytest.mark.java
def test_all_vectors_are_read_and_written_without_the_reference() -> None:
    assert attack.round_trips() == 14_880 + 14_800 - len(attack.CHANGED) * 20


@pytest.mark.java
def test_both_engines_judge_mutants_alike() -> None:
    accepted, rejected = attack.mutants(853, step=25, each=4)
    assert min(accepted, rejected) > 1_000


@pytest.mark.java
def test_both_engines_judge_spoilt_objects_alike() -> None:
    written, refused = attack.hostile_objects(853, step=25, each=4)
    assert min(written, refused) > 500


@pytest.mark.java
def test_the_collector_may_run_at_any_moment() -> None:
    assert attack.collected(50) > 500


def test_an_object_may_change_while_it_is_written() -> None:
    assert attack.meddled(100) == 100


@pytest.mark.java
def test_an_object_may_be_changed_by_another_thread() -> None:
    assert attack.threads(0.5) > 0


def test_elements_may_be_taken_away_while_very_many_are_written() -> None:
    assert attack.emptied(2) == 2
