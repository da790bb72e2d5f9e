"""All scenarios, a few histories each: `make simulate` plays a thousand."""

import pytest

from simulator import run, scenario_names
from tests.support.seed import SEED

HISTORIES = 4


@pytest.mark.parametrize("scenario", scenario_names())
def test_all_promises_hold_in_every_history(scenario: str) -> None:
    results = [run(scenario, seed) for seed in range(SEED, SEED + HISTORIES)]
    assert not [(result.seed, result.violation) for result in results if result.violation]
    assert all(result.events for result in results)


def test_every_history_is_another() -> None:
    events = {run("everything", seed).events for seed in range(SEED, SEED + HISTORIES)}
    assert len(events) > 1
