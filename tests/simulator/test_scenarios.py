"""All scenarios, a few histories each: `make simulate` plays a thousand."""

import os

from simulator import scenario_names
from simulator.runner import run_many

SEEDS = 10


def test_all_promises_hold_in_every_history() -> None:
    played, broken = 0, []
    for results in run_many(scenario_names(), range(SEEDS), jobs=os.cpu_count() or 1):
        played += len(results)
        broken += [(r.scenario, r.seed, r.violation) for r in results if r.violation]
    assert played == SEEDS * len(scenario_names())
    assert broken == []
