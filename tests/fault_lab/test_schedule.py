"""Fault schedules: the same seed gives the same faults."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kwire.errors import InvalidValue
from kwire.fault_lab.schedule import CALM, FaultSchedule, read_schedule
from kwire.testing.faulty_network.fault import LEADER, FaultKind

CONTROLLERS, BROKERS = (3000, 3001, 3002), (1, 2)


@given(seed=st.integers(0, 10**6), minutes=st.floats(0.5, 60))
def test_a_seed_gives_the_same_faults_again(seed: int, minutes: float) -> None:
    schedule = FaultSchedule(seed=seed, minutes=minutes)
    assert schedule.events(CONTROLLERS, BROKERS) == schedule.events(CONTROLLERS, BROKERS)


@given(seed=st.integers(0, 10**6), minutes=st.floats(0.5, 60))
def test_all_faults_end_before_the_workload_does(seed: int, minutes: float) -> None:
    schedule = FaultSchedule(seed=seed, minutes=minutes)
    events = schedule.events(CONTROLLERS, BROKERS)
    assert events
    assert all(event.at >= CALM for event in events)
    assert all(event.at + event.lasts <= schedule.seconds - CALM + 0.01 for event in events)
    known = {*CONTROLLERS, *BROKERS, LEADER}
    assert {node for event in events for node in event.nodes} <= known


def test_other_seeds_give_other_faults() -> None:
    events = [FaultSchedule(seed=seed).events(CONTROLLERS) for seed in range(5)]
    assert all(one != other for one in events for other in events if one is not other)


def test_the_text_of_a_schedule_is_read_again() -> None:
    schedule = FaultSchedule(
        seed=7, minutes=30, faults=(FaultKind.DELAY, FaultKind.ONE_WAY), rate=50
    )
    assert str(schedule) == "seed=7,minutes=30,faults=delay|one-way,rate=50"
    assert read_schedule(str(schedule)) == schedule
    assert read_schedule("") == FaultSchedule()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("seed", "'seed' is no part of a fault schedule"),
        ("speed=3", "write one of seed, minutes, faults, lasts, pause, rate"),
        ("seed=x", "seed of a fault schedule: 'x' is no whole number"),
        ("minutes=x", "minutes of a fault schedule: 'x' is no number"),
        ("faults=delay|storm", "no fault is called 'storm'"),
        ("minutes=0", "minutes of a fault schedule is above 0"),
        ("minutes=nan", "minutes of a fault schedule is above 0"),
        ("rate=1e9", "at most 1000"),
    ],
)
def test_a_wrong_part_is_named(text: str, said: str) -> None:
    with pytest.raises(InvalidValue, match=said.replace("|", r"\|")):
        read_schedule(text)
