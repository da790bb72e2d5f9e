"""A thousand describes on one AdminClient: run as a process of its own by benchmarks/admin.py.

    python benchmarks/admin_concurrency.py SERVERS OPERATION COUNT at-once|in-turn

Prints a JSON object: seconds, CPU seconds, megabytes that resident memory grew by, connections.
"""

from __future__ import annotations

import asyncio
import json
import resource
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass

from admin_cluster import SMALL, topic_names
from kwire.admin import AdminClient
from kwire.messages.config_resource import ConfigResource, ResourceType

PATIENCE = 300.0

OPERATIONS: dict[str, Callable[[AdminClient], Awaitable[object]]] = {
    "describe_metadata_quorum": lambda admin: admin.describe_metadata_quorum(),
    "describe_configs": lambda admin: admin.describe_configs(
        [ConfigResource(ResourceType.TOPIC, SMALL)]
    ),
    "describe_topics": lambda admin: admin.describe_topics(topic_names(1)),
}
"""The operations that are run a thousand times, by name."""


@dataclass(frozen=True, slots=True)
class ConcurrencyRun:
    """Seconds, CPU seconds, growth of the peak in megabytes, and connections that were opened."""

    wall: float
    cpu: float
    growth: float
    connections: int


async def measure(servers: str, operation: str, count: int, at_once: bool) -> ConcurrencyRun:
    """Ask `count` times on one client, after one that is not counted; results are dropped."""
    ask = OPERATIONS[operation]
    connections = 0

    def count_connections(event: str, arguments: object) -> None:
        nonlocal connections
        connections += event == "socket.connect"

    async with AdminClient(servers, timeout=PATIENCE, request_timeout=PATIENCE) as admin:

        async def once() -> None:
            await ask(admin)

        sys.addaudithook(count_connections)
        await once()
        before, wall, cpu = _peak(), time.perf_counter(), time.process_time()
        if at_once:
            await asyncio.gather(*(once() for _ in range(count)))
        else:
            for _ in range(count):
                await once()
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        return ConcurrencyRun(wall, cpu, _peak() - before, connections)


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6


if __name__ == "__main__":
    _, servers, operation, count, order = sys.argv
    found = asyncio.run(measure(servers, operation, int(count), order == "at-once"))
    print(json.dumps(asdict(found)))  # noqa: T201  # a script's output
