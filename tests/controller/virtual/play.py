"""Plays a scenario from a seed and tells how it went."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path

from tests.controller.virtual.scenarios import Scenario
from tests.controller.virtual.world import World

SHOWN = 80
"""Lines of the timeline that a failure shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """How one history went.

    violations: the promises that were broken. counts: of requests, by how they ended.
    seconds: of virtual time. leaders: node by epoch. standstills: how often a node stood still.
    """

    scenario: str
    seed: int
    violations: tuple[str, ...]
    timeline: tuple[str, ...]
    counts: dict[str, int]
    seconds: float
    leaders: dict[int, int]
    standstills: int

    @property
    def report(self) -> str:
        """The violations, and the end of the timeline, for people."""
        head = f"{self.scenario}, seed {self.seed}: {len(self.violations)} violations"
        shown = self.timeline[-SHOWN:]
        return "\n".join(["", head, *self.violations[:20], "", *shown, "", str(self.counts)])


def play(scenario: Scenario, seed: int, folder: Path) -> Result:
    """Make a world from the seed, direct it by the scenario, and check what it promised."""
    name = getattr(scenario, "__name__", "scenario")
    world = World(f"{name}/{seed}", folder)
    with asyncio.Runner(loop_factory=lambda: world.loop) as runner:
        runner.run(_play(world, scenario))
    return Result(
        scenario=name,
        seed=seed,
        violations=tuple(world.violations),
        timeline=tuple(world.timeline.lines),
        counts=world.history.counts(),
        seconds=world.loop.now,
        leaders=dict(world.leaders),
        standstills=sum(map(len, world.standstills.values())),
    )


async def _play(world: World, scenario: Scenario) -> None:
    try:
        await world.start()
        await scenario(world)
        await world.settle()
    finally:
        await world.stop()
