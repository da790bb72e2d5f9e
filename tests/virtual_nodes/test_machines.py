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


def test_a_controller_that_is_about_to_end_is_started_again(tmp_path: Path) -> None:
    # With this seed a start on a full disk fails in the instant in which the disk is repaired: who
    # asks only for what does not run starts nothing, and one controller is missing at the end.
    result = play(MACHINE_SCENARIOS["failing_disks"], 955726008, tmp_path)
    assert not result.violations, result.report
