"""Real controllers in virtual time: nothing acknowledged is lost and no write waits for ever.

One history of every scenario is played; `make simulate` plays more.
"""

from pathlib import Path

import pytest

from tests.support.costly_scenarios import marked
from tests.support.seed import SEED
from virtual_nodes.play import play
from virtual_nodes.scenarios import SCENARIOS

CUTS_ONLY = {"leaders_cut_off"}


@pytest.mark.parametrize("name", marked(SCENARIOS))
def test_what_is_acknowledged_is_on_every_node(name: str, tmp_path: Path) -> None:
    result = play(SCENARIOS[name], SEED, tmp_path)
    assert not result.violations, result.report
    assert result.standstills > 0 or name in CUTS_ONLY, "no process stood still"
    assert len(result.leaders) > 1, "no other leader was elected"
    assert result.counts["topics acknowledged"] > 0, result.report
