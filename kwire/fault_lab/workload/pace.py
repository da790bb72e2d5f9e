"""The pace of clients: so many operations a second, at random moments."""

from __future__ import annotations

import asyncio

from kwire.fault_lab.session import WorkloadClient


async def wait_turn(client: WorkloadClient, share: float) -> None:
    """Wait before the next operation. share: of the run's rate that one client has."""
    mean = 1.0 / max(client.run.rate * share, 1e-3)
    await asyncio.sleep(client.random.uniform(0.0, 2 * mean))
