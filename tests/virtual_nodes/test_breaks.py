"""Faults put into the real controller are found, each by the scenario that is named with it."""

from pathlib import Path

import pytest

from virtual_nodes.all_scenarios import ALL_BREAKS, ALL_SCENARIOS
from virtual_nodes.play import ScenarioResult, play


def first_failing(name: str, folder: Path) -> ScenarioResult | None:
    """Play the scenario of a break until a seed fails; None if none does in time."""
    fault = ALL_BREAKS[name]
    for seed in range(1, fault.seeds + 1):
        with fault.patch():
            result = play(ALL_SCENARIOS[fault.scenario], seed, folder / str(seed))
        if any(violation.startswith(fault.sign) for violation in result.violations):
            return result
    return None


@pytest.mark.parametrize("name", [name for name in ALL_BREAKS if ALL_BREAKS[name].is_quick])
def test_a_break_is_found_within_its_seeds(name: str, tmp_path: Path) -> None:
    assert first_failing(name, tmp_path) is not None


@pytest.mark.long
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("name", [name for name in ALL_BREAKS if not ALL_BREAKS[name].is_quick])
def test_a_break_that_is_rare_is_found_within_its_seeds(name: str, tmp_path: Path) -> None:
    assert first_failing(name, tmp_path) is not None
