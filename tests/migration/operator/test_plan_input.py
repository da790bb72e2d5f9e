"""The brokers of a plan as ZooKeeper has them; here none of them can be asked."""

from __future__ import annotations

import pytest

from kwire.errors import ConnectionFailed
from kwire.migration.operator.plan import PlanInput
from kwire.migration.operator.plan_input import read_plan_input
from kwire.net.secure_connect import SecureConnect
from kwire.net.security import PLAINTEXT
from kwire.zookeeper import Create, Delete, InvalidZnode, Watch, ZooKeeper
from kwire.zookeeper.znodes import BrokerEndpoint, BrokerZnode, ClusterIdZnode
from migrating.memory_zookeeper import LoopCarrier, MemorySession, MemoryZooKeeper

CLUSTER_ID = "u-8fLEuSRzGSBf2DqsI2AA"
BROKER = BrokerZnode(
    endpoints=(BrokerEndpoint(listener="TLS", host="h", port=1, security_protocol="SSL"),)
)


async def zookeeper_of(*names: str, content: bytes = BROKER.encode()) -> MemoryZooKeeper:
    """Return a ZooKeeper with these znodes in /brokers/ids."""
    server = MemoryZooKeeper()
    cluster = ClusterIdZnode(cluster_id=CLUSTER_ID).encode()
    above = [Create("/cluster"), Create(ClusterIdZnode.path, cluster)]
    above += [Create("/brokers"), Create(BrokerZnode.parent)]
    brokers = [Create(f"{BrokerZnode.parent}/{name}", content) for name in names]
    await server.open_session().multi([*above, *brokers])
    return server


async def plan_input(zookeeper: ZooKeeper) -> PlanInput:
    return await read_plan_input(
        zookeeper,
        "zk:1",
        (),
        connect_to=SecureConnect(PLAINTEXT),
        listener="CONTROLLER",
        protocol="PLAINTEXT",
    )


async def test_brokers_that_cannot_be_asked_are_known_by_zookeeper_in_their_order() -> None:
    server = await zookeeper_of("10", "9", "no-broker")
    found = await plan_input(server.open_session())
    assert found.cluster_id == CLUSTER_ID
    assert [broker.node_id for broker in found.brokers] == [9, 10]
    assert found.brokers[0].protocols == {"TLS": "SSL"}
    assert "no listener of PLAINTEXT" in found.brokers[0].unknown


async def test_without_brokers_there_is_no_plan() -> None:
    server = await zookeeper_of()
    with pytest.raises(ConnectionFailed, match=r"zk:1 has no broker: start .* in ZooKeeper mode"):
        await plan_input(server.open_session())


async def test_a_broken_broker_is_named() -> None:
    server = await zookeeper_of("9", content=b"{")
    with pytest.raises(InvalidZnode) as refused:
        await plan_input(server.open_session())
    assert refused.value.path == "/brokers/ids/9"


class EndingSession(MemorySession):
    """Lets broker 9 end right after the brokers were listed."""

    async def children(self, path: str, *, watch: Watch | None = None) -> list[str]:
        """Return the names of a znode's children."""
        names = await super().children(path, watch=watch)
        await self.multi([Delete(BrokerZnode.path(9))])
        return names


async def test_a_broker_that_ends_meanwhile_is_left_out() -> None:
    server = await zookeeper_of("9", "10")
    session = server.admit(EndingSession(server, LoopCarrier()))
    assert [broker.node_id for broker in (await plan_input(session)).brokers] == [10]
