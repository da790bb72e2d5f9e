"""The order of the scripted session: the lists of requests, and what stands between them."""

from __future__ import annotations

from kwire.messages.a64_unregister_broker import UnregisterBrokerRequest
from tests.support.controller.live import admin_script
from tests.support.controller.live.admin_session import Session, Step
from tests.support.controller.live.session import (
    deadlines,
    entities,
    every_api,
    loggers,
    mutations,
    partitions,
    raft,
)

NOBODY = UnregisterBrokerRequest(broker_id=77)


async def play(session: Session) -> None:
    """Send every request of every list; at the end those on which Kafka's leader resigns."""
    for broker_id in (1, 2):
        await session.register(broker_id)
    for script in (
        admin_script.script(session),
        raft.raft_requests(session),
        every_api.lowest_and_highest(),
        every_api.empty_requests(),
        every_api.of_acls("with an authorizer"),
    ):
        for step in script:
            await session.take(step)
    for broker_id in partitions.BROKERS[1:]:
        await session.register(broker_id, "for partitions")
    for step in partitions.moves(session):
        await session.take(step)
    for step in (
        *entities.SCRIPT,
        *mutations.script(),
        *deadlines.script(),
        *loggers.script(session),
        *admin_script.odd_registrations(session),
    ):
        await session.take(step)
    for fault in (*admin_script.faults(), partitions.fault(session)):
        await session.take(fault)
        await session.take(Step(name=f"UnregisterBroker after {fault.name}", request=NOBODY))
        await session.follow_leader()
