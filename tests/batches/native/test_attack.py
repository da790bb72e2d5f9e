"""The native engine for records under attack, briefly; `make sanitize` does it at length."""

from __future__ import annotations

import pytest

from tests.support.batches.native import attack


@pytest.mark.java
def test_records_of_kafkas_batches_are_read_and_written_without_the_reference() -> None:
    assert attack.round_trips() > 5_000


@pytest.mark.java
def test_both_ways_judge_mutants_alike() -> None:
    accepted, rejected = attack.mutants(33, each=4)
    assert min(accepted, rejected) > 200


def test_both_ways_judge_spoilt_records_alike() -> None:
    written, refused = attack.spoilt(33, 1_000)
    assert min(written, refused) > 100


def test_the_collector_may_run_at_any_moment() -> None:
    assert attack.collected(20) > 100


def test_a_list_may_be_emptied_while_it_is_written() -> None:
    assert attack.emptied(3) == 3
