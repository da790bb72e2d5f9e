"""The random source and the time of day of a node: the machine's, or a simulation's."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from uuid import UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """Everything that a node takes from outside besides its event loop, network and disk.

    wall_clock: seconds since 1970, read once when a node starts; its event loop's clock goes on
    from there.
    """

    random: Random = field(default_factory=Random)
    wall_clock: Callable[[], float] = time.time

    def new_uuid(self) -> UUID:
        """Return a random UUID (version 4)."""
        return UUID(int=self.random.getrandbits(128), version=4)

    def fork(self) -> Environment:
        """Return one with a random source of its own, so that two nodes do not share theirs."""
        return Environment(random=Random(self.random.getrandbits(64)), wall_clock=self.wall_clock)
