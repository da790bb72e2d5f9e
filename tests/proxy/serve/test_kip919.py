"""Controllers of Kafka 3.6, which know neither KIP-919 nor KIP-853, behind the tools of Kafka 4."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from subprocess import CompletedProcess
from uuid import UUID

import pytest

from kwire.admin import AdminClient
from kwire.admin.quorum import RaftVoterEndpoint
from kwire.errors import BrokerError, KwireError
from kwire.net.address import Address
from kwire.proxy import Filters, Listener, Proxy, Ring
from kwire.proxy.serve.modes import serve_kip919
from kwire.proxy.serve.served_cluster import ServedCluster
from kwire.testing.local_kafka.local_site import run_tool
from kwire.text.ids import parse_uuid
from real_kafka import Cluster, Layout, class_path, java
from tests.support.real_kafka.own_cluster import OwnCluster

PATIENCE = 120.0
CONTROLLERS = (3000, 3001)
NOT_ADVERTISED = {id: {"advertised.listeners": ""} for id in CONTROLLERS}
"""Kafka 3.6 has controllers advertise nothing."""

LAYOUT = Layout(
    controllers=CONTROLLERS, version="3.6.2", static=True, node_properties=NOT_ADVERTISED
)


@asynccontextmanager
async def fronted(cluster: Cluster) -> AsyncIterator[str]:
    """`--serve kip919` in front of the controllers; the bootstrap list."""
    listeners = [
        Listener(node_id=id, upstream=Address(at.host, at.port))
        for id, node in cluster.controllers.items()
        for at in [node.controller_address]
    ]
    serving = serve_kip919(ServedCluster(listeners, cluster_id=cluster.cluster_id))
    proxy = Proxy(sinks=[Ring()], filters=Filters([serving.filter]))
    async with asyncio.timeout(PATIENCE), proxy, serving.run(proxy):
        yield ",".join(map(str, proxy.addresses.values()))


def tool(bootstrap: str, *arguments: str) -> CompletedProcess[str]:
    """Kafka 4.3.1's own kafka-metadata-quorum."""
    jars = ":".join(map(str, class_path("4.3.1")))
    command = "org.apache.kafka.tools.MetadataQuorumCommand"
    return run_tool(
        str(java()), jars, [command, "--bootstrap-controller", bootstrap, *arguments], 60
    )


async def test_new_tools_see_an_old_quorum_as_it_is(own_cluster: OwnCluster) -> None:
    cluster = own_cluster(LAYOUT)
    await asyncio.to_thread(cluster.start)
    async with AdminClient(bootstrap_controllers=cluster.bootstrap_controllers) as direct:
        with pytest.raises(KwireError):
            await direct.describe_cluster()

    async with fronted(cluster) as bootstrap:
        async with AdminClient(bootstrap_controllers=bootstrap, timeout=PATIENCE) as admin:
            found = await admin.describe_metadata_quorum()
            assert found.leader_id in CONTROLLERS
            assert {voter.replica_id for voter in found.voters} == set(CONTROLLERS)
            assert {voter.replica_directory_id for voter in found.voters} == {None}
            assert {str(node.endpoints[0]) for node in found.nodes.values()} == {
                f"CONTROLLER://{address}" for address in bootstrap.split(",")
            }
            endpoint = RaftVoterEndpoint(name="CONTROLLER", host="127.0.0.1", port=1)
            with pytest.raises(BrokerError, match="UNSUPPORTED_VERSION"):
                await admin.add_raft_voter(3009, UUID(int=9), [endpoint])
            with pytest.raises(BrokerError, match="UNSUPPORTED_VERSION"):
                await admin.remove_raft_voter(3001, UUID(int=9))

        told = await asyncio.to_thread(tool, bootstrap, "describe", "--status")
        assert told.returncode == 0, told.stderr
        lines = dict(line.split(":", 1) for line in told.stdout.splitlines() if ":" in line)
        assert lines["ClusterId"].strip() == cluster.cluster_id
        assert int(lines["LeaderId"]) == found.leader_id
        voters = json.loads(lines["CurrentVoters"])
        assert {voter["id"] for voter in voters} == set(CONTROLLERS)

        directory = "AAAAAAAAAAAAAAAAAAAACQ"
        assert parse_uuid(directory) == UUID(int=9)
        removal = ["remove-controller", "--controller-id", "3001"]
        told = await asyncio.to_thread(
            tool, bootstrap, *removal, "--controller-directory-id", directory
        )
        assert told.returncode == 1
        assert "UnsupportedVersion" in told.stdout + told.stderr
