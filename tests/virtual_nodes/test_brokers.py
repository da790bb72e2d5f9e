"""Brokers in virtual time: KIP-841 and KIP-966 hold after every batch, and no answer is undone."""

import os
from pathlib import Path

import pytest

from virtual_nodes.brokers.scenarios import BROKER_SCENARIOS
from virtual_nodes.play import play

SEEDS = int(os.environ.get("KWIRE_SEEDS", "1"))


@pytest.mark.parametrize("seed", range(1, SEEDS + 1))
@pytest.mark.parametrize("name", BROKER_SCENARIOS)
def test_isrs_and_leaders_keep_the_rules(name: str, seed: int, tmp_path: Path) -> None:
    result = play(BROKER_SCENARIOS[name], seed, tmp_path)
    assert not result.violations, result.report
    assert result.faults.total(), "no fault took place"
    assert result.counts["registrations acknowledged"] >= 4, result.report
    assert result.counts["ISRs acknowledged"] > 10, result.report
    assert result.counts["clients' changes acknowledged"] > 5, result.report
    assert result.counts["settings set"] > 3, result.report
