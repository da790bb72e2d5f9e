"""A seed decides everything: played again, in another process, it gives the same timeline."""

import os
import subprocess
import sys

from tests.support.paths import ROOT


def timeline(hash_seed: str) -> str:
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "virtual_nodes", "--replay", "paused_in_a_request", "1"]
    played = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True)
    assert not played.stderr
    return played.stdout


def test_a_seed_replays_exactly() -> None:
    first = timeline("1")
    assert "stood still at" in first
    assert "[info] controller 3000 of cluster" in first, "the nodes' log lines are missing"
    assert timeline("2") == first
