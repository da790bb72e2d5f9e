"""Faults of a quorum for users' tests: pauses, cut links, slow disks; controllers only."""

import asyncio
import time

import pytest

from kwire.errors import InvalidValue
from kwire.messages.a60_describe_cluster import DescribeClusterRequest
from kwire.net.connection import Connection
from kwire.testing import Quorum
from tests.support.eventually import eventually
from tests.support.virtual_time import in_virtual_time


async def other_leader(quorum: Quorum, former: int) -> int:
    """Return the id of the first leader that is not the former one."""

    async def leader() -> int:
        node = quorum.leader
        return former if node is None else node.node_id

    return await eventually(leader, lambda id: id != former, timeout=60, pause=0.02)


@in_virtual_time
async def test_a_partitioned_leader_is_replaced_and_follows_when_the_links_are_mended() -> None:
    async with Quorum(3, network=True) as quorum:
        former = await quorum.wait_for_leader()
        node = quorum.nodes[former]
        quorum.partition({former})
        successor = await other_leader(quorum, former)
        epoch = quorum.nodes[successor].raft.epoch
        assert node.raft.leader_id != successor
        quorum.heal()
        async with asyncio.timeout(30):
            await node.metadata.until(
                lambda: node.raft.epoch >= epoch and node.raft.role == "follower"
            )


@in_virtual_time
async def test_a_follower_that_cannot_ask_is_not_counted_and_the_leader_stays() -> None:
    async with Quorum(3, network=True) as quorum:
        leader = await quorum.active_controller()
        follower = next(id for id in quorum.nodes if id != leader.node_id)
        epoch = leader.raft.epoch
        quorum.one_way({follower}, {leader.node_id})
        await asyncio.sleep(30)
        # KIP-996: its pre-votes reach the third voter, which still hears the leader.
        assert (quorum.leader, leader.raft.epoch) == (leader, epoch)


@in_virtual_time
async def test_a_paused_leader_answers_nothing_is_replaced_and_then_answers() -> None:
    async with Quorum(3) as quorum:
        former = await quorum.active_controller()
        async with await Connection.open(*quorum.addresses[former.node_id]) as client:
            request = DescribeClusterRequest(endpoint_type=2)
            await client.send(request)
            began = time.monotonic()
            await quorum.pause(former.node_id, 20)
            answer = asyncio.create_task(client.send(request))
            successor = await other_leader(quorum, former.node_id)
            assert not answer.done()
            await answer
            assert time.monotonic() - began >= 20
        new = quorum.nodes[successor]
        async with asyncio.timeout(30):
            await former.metadata.until(lambda: former.raft.epoch >= new.raft.epoch)
        assert not former.metadata.is_active


@in_virtual_time
async def test_a_slow_disk_makes_commits_late_also_after_a_restart() -> None:
    async with Quorum(1) as quorum:
        (node_id,) = quorum.nodes

        async def next_commit() -> float:
            """Return the seconds until the next NoOpRecord, of every 0.5 s, is committed."""
            leader = quorum.nodes[node_id]
            begin, end = time.monotonic(), leader.log.end.offset
            async with asyncio.timeout(30):
                await leader.metadata.until(lambda: (leader.raft.high_watermark or 0) > end)
            return time.monotonic() - begin

        quorum.slow_disk(node_id, 2.5)
        assert await next_commit() >= 2.4
        await quorum.restart(node_id)
        assert quorum.nodes[node_id].runtime.flush_delay == 2.5
        quorum.slow_disk(node_id, 0)
        await quorum.wait_for_leader()
        await next_commit()
        assert await next_commit() < 2


@in_virtual_time
async def test_faults_of_nodes_that_are_not_there_are_refused_in_a_sentence() -> None:
    async with Quorum(1) as quorum:
        with pytest.raises(InvalidValue, match="there is no node 7: the nodes are 3000"):
            await quorum.pause(7, 1)
        with pytest.raises(InvalidValue, match="pass network=True"):
            quorum.partition({3000})
        await quorum.kill(3000)
        with pytest.raises(InvalidValue, match="controller 3000 does not run: restart it first"):
            await quorum.kill(3000)
        await quorum.restart(3000)
        assert await quorum.wait_for_leader() == 3000
    async with Quorum(1, network=True) as quorum:
        with pytest.raises(InvalidValue, match="the network has no node 9"):
            quorum.partition({3000}, {9})


@in_virtual_time
async def test_a_follower_whose_fetches_fail_asks_for_votes_until_the_fault_ends() -> None:
    async with Quorum(3, network=True) as quorum:
        leader = await quorum.active_controller()
        follower = next(id for id in quorum.nodes if id != leader.node_id)
        fault = quorum.faults.on("Fetch", client=f"raft-client-{follower}").close()
        await asyncio.sleep(4)
        assert fault.hits > 0
        assert quorum.faults.seen("Vote", client=f"raft-client-{follower}") > 0
        fault.remove()
        await asyncio.sleep(3)
        quorum.faults.clear()
        await asyncio.sleep(3)
        assert quorum.faults.seen("Vote") == 0
        assert quorum.leader is leader


@in_virtual_time
async def test_a_black_hole_hides_a_voter_from_the_others() -> None:
    async with Quorum(3, network=True) as quorum:
        leader = await quorum.active_controller()
        follower = next(id for id in quorum.nodes if id != leader.node_id)
        hole = quorum.faults.blackhole(client=f"raft-client-{follower}")
        await asyncio.sleep(10)
        assert quorum.leader is leader
        assert hole.hits > 0


async def test_a_quorum_without_proxies_has_no_faults_in_messages() -> None:
    quorum = Quorum(3)
    with pytest.raises(InvalidValue, match="pass network=True"):
        _ = quorum.faults
    await quorum.stop()
