"""The order of the scripted session: the lists of requests, and what stands between them."""

from __future__ import annotations

from tests.support.controller.live import admin_script
from tests.support.controller.live.admin_session import Session
from tests.support.controller.live.session import (
    entities,
    every_api,
    mutations,
    partitions,
    raft,
)


async def play(session: Session) -> None:
    """Send every request of every list; at the end those on which Kafka's leader resigns."""
    for broker_id in (1, 2):
        await session.register(broker_id)
    for script in (
        admin_script.script(session),
        raft.raft_requests(session),
        every_api.without_authorizer(),
        every_api.lowest_and_highest(),
        every_api.empty_requests(),
    ):
        for step in script:
            await session.take(step)
    for broker_id in partitions.BROKERS[1:]:
        await session.register(broker_id, "for partitions")
    for step in partitions.moves(session):
        await session.take(step)
    for step in (*entities.SCRIPT, *mutations.script()):
        await session.take(step)
    for step in admin_script.faults():
        await session.take(step)
    await session.follow_leader()
    await session.take(partitions.fault(session))
