"""Real controllers on machines that lose power, whose disks fail and whose links are bad."""

from pathlib import Path

import pytest

from tests.support.seed import SEED
from virtual_nodes.machine_scenarios import MACHINE_SCENARIOS
from virtual_nodes.play import play


@pytest.mark.parametrize("name", MACHINE_SCENARIOS)
def test_what_is_acknowledged_outlives_the_faults(name: str, tmp_path: Path) -> None:
    result = play(MACHINE_SCENARIOS[name], SEED, tmp_path)
    assert not result.violations, result.report
    assert result.faults.total(), "no fault took place"
    assert result.counts["topics acknowledged"] > 0, result.report
    assert not list(tmp_path.iterdir()), "a node wrote to the machine's own disk"
