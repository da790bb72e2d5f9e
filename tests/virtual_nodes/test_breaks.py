"""Faults put into the real controller are found, each by the scenario that is named with it."""

from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.support.costly_scenarios import marked
from tests.support.seed import SEED
from virtual_nodes.all_scenarios import ALL_BREAKS, ALL_SCENARIOS
from virtual_nodes.play import play

SHORT = {name: fault.scenario for name, fault in ALL_BREAKS.items() if not fault.is_long}
BY_THEIR_SEEDS = marked(SHORT.values(), SHORT)


def finds(name: str, seeds: Iterable[int], folder: Path) -> bool:
    """Play the scenario of a break until a seed shows it; return False if none does."""
    fault = ALL_BREAKS[name]
    for seed in seeds:
        with fault.patch():
            result = play(ALL_SCENARIOS[fault.scenario], seed, folder / str(seed))
        if any(violation.startswith(fault.sign) for violation in result.violations):
            return True
    return False


@pytest.mark.parametrize("name", BY_THEIR_SEEDS)
def test_a_break_is_found_by_the_seed_that_has_found_it(name: str, tmp_path: Path) -> None:
    """Or by another: a change of the controller, or of the scenario, makes other histories."""
    fault = ALL_BREAKS[name]
    seeds = dict.fromkeys((fault.found_by, *range(1, fault.seeds + 1)))
    assert finds(name, seeds, tmp_path)


@pytest.mark.nightly
@pytest.mark.parametrize("name", ALL_BREAKS)
def test_a_break_is_found_by_seeds_that_nobody_has_played(name: str, tmp_path: Path) -> None:
    assert finds(name, range(SEED, SEED + ALL_BREAKS[name].seeds), tmp_path)
