"""Real controllers in virtual time: nothing acknowledged is lost and no write waits for ever.

KWIRE_SEEDS sets how many histories of every scenario are played; `make simulate` plays more.
"""

import os
from pathlib import Path

import pytest

from virtual_nodes.play import play
from virtual_nodes.scenarios import SCENARIOS

SEEDS = int(os.environ.get("KWIRE_SEEDS", "2"))
CUTS_ONLY = {"leaders_cut_off"}


@pytest.mark.parametrize("seed", range(1, SEEDS + 1))
@pytest.mark.parametrize("name", SCENARIOS)
def test_what_is_acknowledged_is_on_every_node(name: str, seed: int, tmp_path: Path) -> None:
    result = play(SCENARIOS[name], seed, tmp_path)
    assert not result.violations, result.report
    assert result.standstills > 0 or name in CUTS_ONLY, "no process stood still"
    assert len(result.leaders) > 1, "no other leader was elected"
    assert result.counts["topics acknowledged"] > 30, result.report
