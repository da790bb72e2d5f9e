"""The seed of this run: what draws histories, vectors and examples.

KWIRE_SEED, or else drawn from the commit, so that each commit tries others: `python -m
tests.support.seed` prints it, for `make` and CI. With KWIRE_SEED=N a run is played again.
"""

from __future__ import annotations

import os
import subprocess
import sys

from tests.support.paths import ROOT

VARIABLE = "KWIRE_SEED"


def _of_the_commit() -> int:
    """Return a number of five hexadecimal digits; 1 where there is no repository, or no git."""
    try:
        command = ["git", "rev-parse", "HEAD"]
        ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return 1
    return int(ran.stdout[:5], 16)


SEED = int(os.environ.get(VARIABLE) or _of_the_commit())

if __name__ == "__main__":
    sys.stdout.write(f"{SEED}\n")
