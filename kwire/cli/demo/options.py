"""The options of `kwire demo`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from kwire.cli.cluster_ports import PORTS
from kwire.cli.options import flag, option


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoOptions:
    """The options of `kwire demo`, and of the demo with real Kafka."""

    seconds: float = option(
        default=5.0, min=0, help="Watch the nodes for so long after the last step."
    )
    keep: bool = flag("--keep", help="Let it run until Ctrl-C, to try commands against it.")
    ports: int | None = PORTS
    write: Path | None = option(
        "--write", "-w", metavar="FILE", help="Record the traffic there, as `kwire proxy -w` does."
    )
    every: bool = flag("--all", help="Show every RPC, also those that repeat all the time.")
    verbose: bool = flag("--verbose", "-v", help="Show the admin's messages field by field.")
