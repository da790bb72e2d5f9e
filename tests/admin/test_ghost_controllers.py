"""Registrations of controllers that are gone, disarmed on controllers of kwire's."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from kwire.admin import AdminClient, ReadOnly
from kwire.admin.ghost_controllers import Disarming
from kwire.errors import InvalidValue, UnsupportedEndpointType
from kwire.net.negotiation import VersionRange
from kwire.testing.quorum import Quorum
from real_kafka import free_port
from tests.support.admin.ghost_registration import register_ghost
from tests.support.eventually import eventually

GONE, ALIVE = 3999, 3001
OLD = {"metadata.version": (1, 21)}


@pytest.fixture
async def quorum() -> AsyncIterator[Quorum]:
    """One controller, of a cluster at 4.3, with a ghost of 3.9 that nobody reaches."""
    async with Quorum(1, release="4.3") as quorum:
        await quorum.wait_for_leader()
        await register_ghost(quorum.addresses[3000], GONE, OLD, free_port())
        yield quorum


def client(quorum: Quorum, *, read_only: bool = False) -> AdminClient:
    return AdminClient(bootstrap_controllers=quorum.bootstrap_controllers, read_only=read_only)


async def refusal(quorum: Quorum, node_id: int) -> str:
    """Return why a controller is not disarmed."""
    async with client(quorum) as admin:
        with pytest.raises(InvalidValue) as refused:
            await admin.plan_disarming(node_id)
    return str(refused.value)


async def plan(quorum: Quorum) -> Disarming:
    async with client(quorum) as admin:
        return await admin.plan_disarming(GONE)


async def test_a_ghost_gets_the_versions_of_the_voters(quorum: Quorum) -> None:
    planned = await plan(quorum)
    assert planned.before == {"metadata.version": VersionRange(1, 21)}
    assert planned.after["metadata.version"].max_version > 21
    assert planned.seen[0] == "it does not vote"
    assert planned.seen[1].startswith("the leader has had no fetch of it for 5 minutes")
    assert "refused the connection" in planned.seen[2]
    assert ";" not in planned.seen[2]
    async with client(quorum, read_only=True) as admin:
        with pytest.raises(ReadOnly):
            await admin.disarm(planned)
    async with client(quorum) as admin:
        await admin.disarm(planned)
    now = await plan(quorum)
    assert (now.before, now.is_done) == (planned.after, True)
    assert now.registration.endpoints == planned.registration.endpoints
    assert now.registration.incarnation_id != planned.registration.incarnation_id


async def test_who_votes_or_is_not_registered_is_refused(quorum: Quorum) -> None:
    assert "controller 3000 is a voter: kwire quorum remove-controller" in await refusal(
        quorum, 3000
    )
    assert await refusal(quorum, 7) == "controller 7 is not registered"


async def test_who_fetches_is_refused(quorum: Quorum) -> None:
    quorum.add_member(ALIVE)
    await quorum.start_node(ALIVE)
    text = await eventually(lambda: refusal(quorum, ALIVE), lambda text: "fetched" in text)
    assert "controller 3001 fetched from the leader less than 5 s ago: it runs" in text


async def test_who_answers_is_refused_unless_another_has_the_address_now(quorum: Quorum) -> None:
    address = quorum.addresses[3000]
    await register_ghost(address, GONE, OLD, address[1])
    assert (
        f"127.0.0.1:{address[1]} is the address of controller 3000 now" in (await plan(quorum)).seen
    )
    other = Quorum(1)
    async with other:
        await register_ghost(address, GONE, OLD, other.addresses[3000][1])
        assert "a node answers at 127.0.0.1:" in await refusal(quorum, GONE)


async def test_a_cluster_that_removes_registrations_is_told_so() -> None:
    async with Quorum(1, release="4.4") as quorum:
        await quorum.wait_for_leader()
        await register_ghost(quorum.addresses[3000], GONE, {"metadata.version": (7, 33)})
        assert "this cluster removes registrations" in await refusal(quorum, GONE)


async def test_brokers_are_not_asked() -> None:
    async with AdminClient("127.0.0.1:1", timeout=1.0) as admin:
        with pytest.raises(UnsupportedEndpointType):
            await admin.plan_disarming(GONE)
