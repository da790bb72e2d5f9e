"""The compatibility matrix of KIP-919, on Kafka 3.6.2, the last release without it, and 4.3.1."""

import pytest

from kwire.admin import AdminClient, MismatchedEndpointType
from kwire.errors import KwireError, UnsupportedVersion
from real_kafka import Cluster, Layout
from tests.support.eventually import eventually
from tests.support.real_kafka.own_cluster import OwnCluster

OLD = Layout(
    controllers=(3000,),
    brokers=(1,),
    version="3.6.2",
    static=True,
    # Before KIP-919 a controller may not advertise anything.
    node_properties={3000: {"advertised.listeners": ""}},
)
TIMEOUT = 60.0


async def refused(admin: AdminClient) -> KwireError:
    """Return the error with which a description of the cluster fails."""
    async with admin:
        try:
            await admin.describe_cluster()
        except KwireError as error:
            return error
    pytest.fail("it was answered")


async def answered(admin: AdminClient) -> set[int]:
    """Return the ids of the nodes of the cluster."""
    async with admin:
        return set((await admin.describe_cluster()).nodes)


async def test_nodes_before_and_after_kip_919_answer_or_are_named(
    own_cluster: OwnCluster, quorum: Cluster
) -> None:
    with own_cluster(OLD) as old:
        # bootstrap.servers
        assert await answered(AdminClient(old.bootstrap_servers, timeout=TIMEOUT)) == {1}
        assert await answered(AdminClient(quorum.bootstrap_servers, timeout=TIMEOUT)) == {1}
        at_old = await refused(AdminClient(old.bootstrap_controllers))
        assert isinstance(at_old, MismatchedEndpointType)
        assert "is a controller, not a broker" in str(at_old)
        at_new = await refused(AdminClient(quorum.bootstrap_controllers))
        assert isinstance(at_new, MismatchedEndpointType)
        # bootstrap.controllers
        for servers in (old.bootstrap_servers, quorum.bootstrap_servers):
            error = await refused(AdminClient(bootstrap_controllers=servers))
            assert isinstance(error, MismatchedEndpointType)
            assert "is a broker, not a controller" in str(error)
        error = await refused(AdminClient(bootstrap_controllers=old.bootstrap_controllers))
        assert isinstance(error, UnsupportedVersion)
        assert "older than Kafka 3.7" in str(error)
        controllers = AdminClient(bootstrap_controllers=quorum.bootstrap_controllers)
        assert await answered(controllers) == {3000, 3001, 3002}
        # A broker of 3.6 is asked all the same, topics and the quorum included.
        async with AdminClient(old.bootstrap_servers, timeout=TIMEOUT) as admin:
            info = await eventually(admin.describe_metadata_quorum, lambda info: info.voters != ())
            assert [voter.replica_id for voter in info.voters] == [3000]
            assert info.voters[0].replica_directory_id is None
            assert await admin.list_topics() == []
