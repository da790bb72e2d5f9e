"""The admin session of the demo: describe, add a voter, describe, remove it, describe."""

from __future__ import annotations

import asyncio
import time

from kwire.admin import AdminClient
from kwire.admin.voter_change_plan import VoterChangePlan, plan_addition
from kwire.cli.demo.cluster import JOINING
from kwire.cli.demo.screen import CLIENT_ID, DemoScreen
from kwire.cli.errors import CommandFailed
from kwire.cli.quorum import data
from kwire.errors import KwireError

READY = 60.0
"""Seconds for the quorum to elect a leader and to hear of the joining controller."""

LOOK = 0.5
"""Seconds between two looks whether the quorum is ready."""

PACE = 1.5
"""Seconds between steps on a terminal, for people to read what passed."""

UNREAD_PACE = 0.1
"""Seconds between steps where the output is no terminal: the proxy's lines still come first."""


async def show_steps(controllers: list[str], screen: DemoScreen) -> None:
    """Make an observer a voter and back. Raises CommandFailed if the voters are unexpected.

    controllers: addresses of the proxy's listeners, one in front of each controller.
    """
    planned = await _until_ready(controllers)
    screen.started()
    assert planned.directory_id is not None
    pace = PACE if screen.is_terminal else UNREAD_PACE
    async with AdminClient(bootstrap_controllers=controllers, client_id=CLIENT_ID) as admin:
        screen.heading("Describe the quorum: its controllers are asked directly (KIP-919)")
        before = await _describe(admin, screen, pace)

        screen.heading(f"Add controller {JOINING} to the voters (KIP-853)")
        await admin.add_raft_voter(JOINING, planned.directory_id, planned.endpoints)
        await asyncio.sleep(pace)

        screen.heading("Describe the quorum")
        _expect(await _describe(admin, screen, pace), before | {JOINING})

        screen.heading(f"Remove controller {JOINING} from the voters")
        await admin.remove_raft_voter(JOINING, planned.directory_id)
        await asyncio.sleep(pace)

        screen.heading("Describe the quorum")
        _expect(await _describe(admin, screen, pace), before)


async def _until_ready(controllers: list[str]) -> VoterChangePlan:
    """Wait for a leader, and for the joining controller to follow it and to be registered.

    Another client id than the session's asks, so that the screen shows few of its many requests.
    """
    deadline = time.monotonic() + READY
    async with AdminClient(bootstrap_controllers=controllers, client_id="kwire-waits") as admin:
        while True:
            try:
                planned = await plan_addition(admin, admin, JOINING)
                problem = "; ".join(planned.problems)
                if not problem:
                    return planned
            except KwireError as error:
                problem = str(error)
            if time.monotonic() > deadline:
                raise CommandFailed(f"the quorum is not ready after {READY:.0f} s: {problem}.")
            await asyncio.sleep(LOOK)


async def _describe(admin: AdminClient, screen: DemoScreen, pace: float) -> set[int]:
    """Show voters and observers; return the ids of the voters."""
    quorum = await admin.describe_metadata_quorum()
    await asyncio.sleep(pace)
    screen.replicas(data.status("", quorum))
    return {voter.replica_id for voter in quorum.voters}


def _expect(voters: set[int], expected: set[int]) -> None:
    if voters != expected:
        raise CommandFailed(
            f"the voters are {sorted(voters)}, not {sorted(expected)} as they should be."
        )
