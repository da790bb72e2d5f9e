"""`--serve controller` in front of a real quorum, which never hears of what is carried out."""

import asyncio
from contextlib import AsyncExitStack
from typing import Any
from uuid import UUID

import pytest

from kwire.admin import AdminClient
from kwire.admin.quorum import RaftVoterEndpoint
from kwire.cli.proxy.sandbox_backend import SandboxBackend
from kwire.codec.declaration import Request
from kwire.error_codes import ErrorCode
from kwire.errors import BrokerError
from kwire.messages import a56_alter_partition as alter
from kwire.messages.a57_update_features import FeatureUpdateKey, UpdateFeaturesRequest
from kwire.messages.a62_broker_registration import BrokerRegistrationRequest
from kwire.messages.a70_controller_registration import ControllerRegistrationRequest
from kwire.messages.a82_update_raft_voter import UpdateRaftVoterRequest
from kwire.net.address import Address
from kwire.net.connection import Connection
from kwire.proxy import Filters, Flow, Listener, Proxy, Ring
from kwire.proxy.flows.flow import Effect
from kwire.proxy.serve.served_cluster import ServedCluster
from real_kafka import Cluster, metadata_quorum
from tests.support.real_kafka.topics import create, delete

PATIENCE = 120.0
JOINER = UUID(int=0xBEEF)


class Front:
    """The proxy in front of the controllers of a cluster, and what passed it."""

    def __init__(self, cluster: Cluster) -> None:
        self.ring = Ring()
        listeners = [
            Listener(node_id=id, upstream=controller(cluster, id)) for id in cluster.controllers
        ]
        self.backend = SandboxBackend(ServedCluster(listeners))
        self.bootstrap = ""
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> "Front":
        filters = Filters([self.backend.filter])
        proxy = await self._stack.enter_async_context(Proxy(sinks=[self.ring], filters=filters))
        await self._stack.enter_async_context(self.backend.run(proxy))
        self.bootstrap = ",".join(
            str(address)
            for listener, address in proxy.addresses.items()
            if (listener.node_id or 0) >= 3000
        )
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self._stack.aclose()

    def handled(self, api: str) -> set[str]:
        return {
            event.handling for event in self.ring if isinstance(event, Flow) and event.api == api
        }


def controller(cluster: Cluster, id: int) -> Address:
    address = cluster.controllers[id].controller_address
    return Address(address.host, address.port)


def voters(cluster: Cluster) -> set[int]:
    """Of the cluster itself, by Kafka's own tool."""
    return set(metadata_quorum.current_voters(cluster))


async def test_voters_change_in_the_copy_alone(quorum: Cluster) -> None:
    there = quorum.controllers[3002].controller_address
    endpoint = RaftVoterEndpoint(name="CONTROLLER", host=there.host, port=there.port)
    nowhere = RaftVoterEndpoint(name="CONTROLLER", host="127.0.0.1", port=1)
    async with asyncio.timeout(PATIENCE), Front(quorum) as front:
        async with AdminClient(bootstrap_controllers=front.bootstrap) as admin:
            with pytest.raises(BrokerError, match="REQUEST_TIMED_OUT"):
                await admin.add_raft_voter(3008, JOINER, [nowhere])
            await admin.add_raft_voter(3009, JOINER, [endpoint])
            found = await admin.describe_metadata_quorum()
            assert {voter.replica_id for voter in found.voters} == {3000, 3001, 3002, 3009}
            assert {node.endpoints[0].port for node in found.nodes.values()}.isdisjoint(
                node.controller_address.port
                for id, node in quorum.controllers.items()
                if id != 3002
            )
            with pytest.raises(BrokerError, match="DUPLICATE_VOTER"):
                await admin.add_raft_voter(3009, UUID(int=1), [endpoint])
            await admin.remove_raft_voter(3009, JOINER)
            with pytest.raises(BrokerError, match="VOTER_NOT_FOUND"):
                await admin.remove_raft_voter(3009, JOINER)
            await admin.add_raft_voter(3009, JOINER, [endpoint])
        believed = await asyncio.to_thread(
            quorum.tool,
            metadata_quorum.COMMAND,
            "--bootstrap-controller",
            front.bootstrap,
            "describe",
            "--status",
        )
        assert '"id": 3009' in believed.stdout, believed.stderr
        assert await asyncio.to_thread(voters, quorum) == {3000, 3001, 3002}
    assert front.handled("AddRaftVoter") == front.handled("DescribeQuorum") == {"simulated"}
    marked = [
        event
        for event in front.ring
        if isinstance(event, Flow) and Effect.SIMULATED in event.effects
    ]
    assert all(any(note.startswith("SIMULATED") for note in flow.notes) for flow in marked)


async def test_an_isr_with_a_fenced_broker_is_refused_as_kip_841_says(quorum: Cluster) -> None:
    topic = "simulated-isr"
    await asyncio.to_thread(create, quorum.bootstrap_servers, topic)
    try:
        async with asyncio.timeout(PATIENCE), Front(quorum) as front:
            image = front.backend.cluster.live.image
            found = image.topics.topic(topic)
            assert found is not None
            partition = found.partitions[0]
            address = Address.parse(front.bootstrap.split(",")[0])
            async with await Connection.open(address.host, address.port) as connection:
                response = await connection.send(
                    alter.AlterPartitionRequest(
                        broker_id=1,
                        broker_epoch=image.cluster.brokers[1].epoch,
                        topics=[
                            alter.TopicData(
                                topic_id=found.id,
                                partitions=[
                                    alter.PartitionData(
                                        partition_index=0,
                                        leader_epoch=partition.leader_epoch,
                                        partition_epoch=partition.partition_epoch,
                                        new_isr_with_epochs=[
                                            alter.BrokerState(broker_id=1, broker_epoch=12345)
                                        ],
                                    )
                                ],
                            )
                        ],
                    )
                )
                assert isinstance(response, alter.AlterPartitionResponse)
                (answer,) = response.topics[0].partitions
                assert answer.error_code == ErrorCode.INELIGIBLE_REPLICA
    finally:
        await asyncio.to_thread(delete, quorum.bootstrap_servers, topic)


async def test_features_and_registrations_are_judged_by_the_copy(quorum: Cluster) -> None:
    async with asyncio.timeout(PATIENCE), Front(quorum) as front:
        address = Address.parse(front.bootstrap.split(",")[-1])
        async with await Connection.open(address.host, address.port) as connection:
            requests: list[Request] = [
                UpdateFeaturesRequest(
                    feature_updates=[
                        FeatureUpdateKey(
                            feature="metadata.version", max_version_level=999, upgrade_type=1
                        )
                    ]
                ),
                BrokerRegistrationRequest(broker_id=9, cluster_id="another cluster"),
                ControllerRegistrationRequest(controller_id=3000, incarnation_id=JOINER),
                UpdateRaftVoterRequest(cluster_id=None, current_leader_epoch=0, voter_id=3001),
            ]
            codes = {}
            for request in requests:
                response: Any = await connection.send(request)
                codes[type(request).__name__] = response.error_code
    assert codes == {
        "UpdateFeaturesRequest": ErrorCode.INVALID_UPDATE_VERSION,
        "BrokerRegistrationRequest": ErrorCode.INCONSISTENT_CLUSTER_ID,
        "ControllerRegistrationRequest": ErrorCode.NONE,
        "UpdateRaftVoterRequest": ErrorCode.FENCED_LEADER_EPOCH,
    }
    for name in codes:
        assert front.handled(name.removesuffix("Request")) == {"simulated"}
