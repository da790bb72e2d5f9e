"""The checker of histories: known examples, histories by construction, and mutated ones."""

from __future__ import annotations

from dataclasses import replace
from math import inf
from random import Random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from kwire.fault_lab.history import Fate, RecordedOperation
from kwire.fault_lab.linearizable import check_linearizable
from kwire.fault_lab.models import RegisterModel, TopicModel, VoterModel
from tests.support.seed import SEED

REGISTER = RegisterModel("register", 0)


def write(value: int, begin: float, end: float, fate: Fate = Fate.OK) -> RecordedOperation:
    return RecordedOperation(
        key="config:x", kind="set", fate=fate, begin=begin, end=end, value=value
    )


def read(result: Any, begin: float, end: float, *, stale: bool = False) -> RecordedOperation:
    return RecordedOperation(
        key="config:x", kind="read", fate=Fate.OK, begin=begin, end=end, result=result, stale=stale
    )


def fits(*operations: RecordedOperation) -> bool:
    found = check_linearizable(REGISTER, operations)
    assert found.valid is not None
    return found.valid


def test_porcupines_first_example_fits() -> None:
    assert fits(write(100, 0, 100), read(100, 25, 75), read(0, 30, 60))


def test_porcupines_second_example_does_not() -> None:
    assert not fits(write(200, 0, 100), read(200, 10, 30), read(0, 40, 90))


def test_herlihy_and_wings_register_that_goes_back_does_not_fit() -> None:
    assert not fits(write(1, 0, 10), write(2, 20, 30), read(1, 40, 50))
    assert fits(write(1, 0, 25), write(2, 20, 30), read(1, 40, 50))


def test_a_write_without_an_answer_may_take_effect_much_later_or_never() -> None:
    lost = write(1, 0, 5, Fate.UNKNOWN)
    assert fits(lost, read(0, 10, 11), read(1, 20, 21))
    assert fits(lost, read(0, 10, 11), read(0, 20, 21))
    assert not fits(lost, read(1, 10, 11), read(0, 20, 21))


def test_a_write_that_was_not_done_has_no_effect() -> None:
    assert not fits(write(1, 0, 5, Fate.NOT_DONE), read(1, 10, 11))


def test_a_stale_read_shows_an_earlier_value_but_none_that_never_was() -> None:
    assert fits(write(1, 0, 1), write(2, 2, 3), read(1, 10, 11, stale=True))
    assert not fits(write(1, 0, 1), write(2, 2, 3), read(3, 10, 11, stale=True))
    assert not fits(read(1, 0, 1, stale=True), write(1, 2, 3))


def test_a_search_that_takes_too_long_is_given_up() -> None:
    writes = [write(number, 0, 100) for number in range(1, 12)]
    found = check_linearizable(REGISTER, [*writes, read(99, 200, 201)], limit=100)
    assert found.valid is None


def topic(kind: str, fate: Fate, at: float, **more: Any) -> RecordedOperation:
    return RecordedOperation(key="topic:t", kind=kind, fate=fate, begin=at, end=at + 0.5, **more)


def test_refusals_of_topics_say_how_the_topic_is() -> None:
    created = topic("create", Fate.OK, 0, value=1, result="A")
    exists = topic("create", Fate.REFUSED, 1, value=1, result="TOPIC_ALREADY_EXISTS")
    deleted = topic("delete", Fate.OK, 2, result="A")
    absent = topic("delete", Fate.REFUSED, 3, result="UNKNOWN_TOPIC_OR_PARTITION")
    late = replace(exists, begin=4, end=4.5)
    model = TopicModel()
    assert check_linearizable(model, [created, exists, deleted, absent]).valid
    broken = check_linearizable(model, [created, exists, deleted, absent, late])
    assert broken.valid is False
    assert late in broken.stuck


def test_partitions_only_grow() -> None:
    created = topic("create", Fate.OK, 0, value=1, result="A")
    grown = topic("grow", Fate.OK, 1, value=3)
    refused = topic("grow", Fate.REFUSED, 2, value=2, result="INVALID_PARTITIONS")
    last = topic("read", Fate.OK, 3, result=["A", 3])
    assert check_linearizable(TopicModel(), [created, grown, refused, last]).valid
    fewer = replace(last, result=["A", 2])
    assert not check_linearizable(TopicModel(), [created, grown, refused, fewer]).valid
    other = replace(last, result=["B", 3])
    assert not check_linearizable(TopicModel(), [created, grown, refused, other]).valid


def test_a_lost_creation_takes_the_id_that_is_read() -> None:
    lost = topic("create", Fate.UNKNOWN, 0, value=1)
    last = topic("read", Fate.OK, 3, result=["A", 1])
    assert check_linearizable(TopicModel(), [lost, last]).valid
    again = topic("read", Fate.OK, 4, result=["B", 1])
    assert not check_linearizable(TopicModel(), [lost, last, again]).valid


def test_a_voter_is_added_once() -> None:
    added = RecordedOperation(key="voter:3", kind="add", fate=Fate.OK, begin=0, end=1)
    twice = replace(added, begin=2, end=3)
    refused = replace(twice, fate=Fate.REFUSED, result="DUPLICATE_VOTER")
    assert check_linearizable(VoterModel(), [added, refused]).valid
    assert not check_linearizable(VoterModel(), [added, twice]).valid


def by_construction(random: Random, length: int) -> list[RecordedOperation]:
    """Return a history of a register that took effect at moments in their intervals."""
    value, operations = 0, []
    for moment in range(length):
        begin, end = moment - random.uniform(0, 3), moment + random.uniform(0, 3)
        if random.random() < 0.5:
            value = moment + 1
            fate = random.choice((Fate.OK, Fate.OK, Fate.OK, Fate.UNKNOWN))
            operations.append(write(value, begin, inf if fate is Fate.UNKNOWN else end, fate))
        else:
            operations.append(read(value, begin, end))
    random.shuffle(operations)
    return operations


@settings(deadline=None, max_examples=60)
@given(st.randoms(use_true_random=False), st.integers(1, 40))
def test_a_history_that_took_place_is_accepted(random: Random, length: int) -> None:
    assert fits(*by_construction(random, length))


def test_most_histories_with_an_earlier_value_are_refused() -> None:
    refused = mutated = 0
    for seed in range(SEED, SEED + 60):
        random = Random(seed)
        operations = by_construction(random, 30)
        reads = [op for op in operations if op.kind == "read" and op.result]
        if not reads:
            continue
        victim = max(reads, key=lambda op: op.begin)
        changed = replace(victim, result=0, begin=victim.begin + 10, end=victim.end + 10)
        mutated += 1
        refused += not fits(*(changed if op is victim else op for op in operations))
    assert mutated > 40
    assert refused == mutated
