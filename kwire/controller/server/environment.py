"""The random source, time of day and disk of a node: the machine's, or a simulation's."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from random import Random
from secrets import token_bytes
from uuid import UUID

from kwire.controller.server.runtime_loggers import RuntimeLoggers
from kwire.logdir.filesystem import DISK, FileSystem


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """Everything that a node takes from outside besides its event loop and network.

    wall_clock: seconds since 1970, read once when a node starts; its event loop's clock goes on
    from there. filesystem: of its directories. token_bytes: returns so many bytes that nobody can
    guess, for the nonces and salts of logins; `random` is not for secrets. loggers: of
    the process, whose levels clients may set.
    """

    random: Random = field(default_factory=Random)
    wall_clock: Callable[[], float] = time.time
    filesystem: FileSystem = DISK
    token_bytes: Callable[[int], bytes] = token_bytes
    loggers: RuntimeLoggers = field(default_factory=RuntimeLoggers)

    def new_uuid(self) -> UUID:
        """Return a random UUID (version 4)."""
        return UUID(int=self.random.getrandbits(128), version=4)

    def fork(self) -> Environment:
        """Return one with a random source of its own, so that two nodes do not share theirs."""
        return replace(self, random=Random(self.random.getrandbits(64)))
