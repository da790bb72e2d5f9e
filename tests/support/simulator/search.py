"""The search for a history that shows a fault of the core."""

from __future__ import annotations

from simulator import run

SEEDS = 200


def broken_invariant(scenario: str, seed: int) -> str:
    """Return the name of the invariant that breaks; empty if none does.

    seed: one that has found the fault. Another one is looked for if it does not any more: a change
    of the core, or of the scenario, makes other histories.
    """
    seeds = (seed, *range(SEEDS))
    violations = (run(scenario, seed).violation for seed in seeds)
    return next(filter(None, violations), "").split(":")[0]
