"""Whoever cannot read the log of a quorum is told at once."""

from __future__ import annotations

import pytest

from kwire.admin import NoReachableLeader
from kwire.admin.find_quorum import find_quorum
from scripted_quorum import CLUSTER_ID, ScriptedQuorum, scripted_quorum
from tests.support.virtual_time import in_virtual_time


async def found(quorum: ScriptedQuorum) -> str | None:
    return await find_quorum([node.address for node in quorum.nodes], client_id="test")


@in_virtual_time
async def test_a_quorum_that_is_led_is_found_with_its_cluster_id() -> None:
    async with scripted_quorum(3) as three:
        assert await found(three) == CLUSTER_ID


@in_virtual_time
async def test_a_quorum_without_a_leader_is_not_found() -> None:
    """Though each of its controllers tells the cluster id."""
    async with scripted_quorum(3) as three:
        three.active = three.leading = -1
        with pytest.raises(NoReachableLeader):
            await found(three)
