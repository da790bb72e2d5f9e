"""Real controllers whose listeners want TLS or a login, in virtual time."""

from pathlib import Path

import pytest

from tests.support.costly_scenarios import marked
from tests.support.seed import SEED
from virtual_nodes.all_scenarios import SECURE_SCENARIOS
from virtual_nodes.play import play


@pytest.mark.parametrize("name", marked(SECURE_SCENARIOS))
def test_what_is_acknowledged_outlives_the_faults(name: str, tmp_path: Path) -> None:
    result = play(SECURE_SCENARIOS[name], SEED, tmp_path)
    assert not result.violations, result.report
    assert result.faults.total(), "no fault took place"
    assert result.counts["topics acknowledged"] > 0, result.report
