"""A seed decides everything: played again, in another process, it gives the same timeline."""

import os
import subprocess
import sys

import pytest

from tests.support.paths import ROOT
from tests.support.seed import SEED
from virtual_nodes.all_scenarios import ALL_SCENARIOS

QUICK = ("paused_in_a_request", "power_cuts_over_tls")


def timeline(scenario: str, hash_seed: str) -> str:
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "virtual_nodes", "--replay", scenario, str(SEED)]
    played = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True)
    assert not played.stderr
    assert "[info] controller 3000 of cluster" in played.stdout, "the nodes' log lines are missing"
    return played.stdout


@pytest.mark.costly
@pytest.mark.parametrize("scenario", QUICK)
def test_a_seed_replays_exactly(scenario: str) -> None:
    assert timeline(scenario, "1") == timeline(scenario, "2")


@pytest.mark.nightly
@pytest.mark.parametrize("scenario", sorted({*ALL_SCENARIOS} - {*QUICK}))
def test_a_seed_of_any_other_scenario_replays_exactly(scenario: str) -> None:
    assert timeline(scenario, "1") == timeline(scenario, "2")
