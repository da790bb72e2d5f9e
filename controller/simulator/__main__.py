"""`python -m controller.simulator`: many seeds, a failing one's trace, a replay."""

from __future__ import annotations

from controller.simulator.command import app

if __name__ == "__main__":
    app(prog_name="python -m controller.simulator")
