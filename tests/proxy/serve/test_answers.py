"""Answers from the image are those of a real broker, except for the addresses of nodes."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID, uuid4

from kwire.codec.declaration import Request
from kwire.messages import a03_metadata as metadata
from kwire.messages import a32_describe_configs as configs
from kwire.messages import a48_describe_client_quotas as quotas
from kwire.messages import a49_alter_client_quotas as alter_quotas
from kwire.messages import a50_describe_user_scram_credentials as scram
from kwire.messages import a51_alter_user_scram_credentials as alter_scram
from kwire.messages.a60_describe_cluster import DescribeClusterRequest
from kwire.net.address import Address
from kwire.net.connection import Connection
from real_kafka import Cluster
from tests.support.proxy.serve.serving_proxy import ServingProxy, controllers, serving

PATIENCE = 120.0
USER, CLIENT = "alice", "reports"


@asynccontextmanager
async def both(cluster: Cluster) -> AsyncIterator[tuple[ServingProxy, Connection, Connection]]:
    """The proxy, a connection to it and one to the broker."""
    broker = cluster.brokers[1].broker_address
    async with asyncio.timeout(PATIENCE), serving(controllers(cluster)) as served:
        front = Address.parse(served.bootstrap.split(",")[0])
        async with (
            await Connection.open(front.host, front.port) as ours,
            await Connection.open(broker.host, broker.port) as theirs,
        ):
            yield served, ours, theirs


async def same(request: Request, ours: Connection, theirs: Connection, since: int = 0) -> Any:
    """Our answer, when it is as the broker's at every version that this has from `since` on."""
    offered = theirs.node.api_versions[type(request).key or 0]
    for version in type(request).versions:
        if version not in offered or version < since:
            continue
        theirs_said: Any = await theirs.send(request, version)
        while (said := _comparable(await ours.send(request, version))) != _comparable(theirs_said):
            # The broker's image or ours may be a record behind the other.
            await asyncio.sleep(0.1)
            theirs_said = await theirs.send(request, version)
    return said


def _comparable(response: Any) -> Any:
    if isinstance(response, metadata.MetadataResponse):
        return sorted(response.topics, key=lambda topic: (topic.name or "", topic.topic_id))
    response.error_message = None
    for one in getattr(response, "results", ()):
        one.error_message = None
    entries = getattr(response, "entries", None)
    if entries:
        for entry in entries:
            entry.entity.sort(key=lambda part: part.entity_type)
            entry.values.sort(key=lambda value: value.key)
        entries.sort(key=repr)
    return response


def asked(*names: str) -> metadata.MetadataRequest:
    topics = [metadata.MetadataRequestTopic(name=name) for name in names]
    return metadata.MetadataRequest(topics=topics)


async def test_topics_are_told_as_the_broker_tells_them(quorum: Cluster) -> None:
    from kafka.admin import KafkaAdminClient, NewTopic

    name = f"answers-{uuid4()}"
    admin = await asyncio.to_thread(KafkaAdminClient, bootstrap_servers=quorum.bootstrap_servers)
    await asyncio.to_thread(admin.create_topics, [NewTopic(name, 3, 1)])
    try:
        async with both(quorum) as (_, ours, theirs):
            (topic,) = await same(asked(name), ours, theirs)
            assert [partition.leader_id for partition in topic.partitions] == [1, 1, 1]
            missing = f"missing-{uuid4()}"
            request = asked(missing).replace(allow_auto_topic_creation=False)
            (topic,) = await same(request, ours, theirs, since=4)
            assert (topic.name, topic.error_code) == (missing, 3)
            everything = await ours.send(metadata.MetadataRequest(topics=None))
            assert isinstance(everything, metadata.MetadataResponse)
            assert name in {topic.name for topic in everything.topics}
            unknown = metadata.MetadataRequestTopic(topic_id=UUID(int=77), name=None)
            request = metadata.MetadataRequest(topics=[unknown])
            for connection in (ours, theirs):
                said: Any = await connection.send(request, 12)
                assert said.topics[0].error_code == 100
    finally:
        await asyncio.to_thread(admin.delete_topics, [name])
        admin.close()


def quota(remove: bool) -> alter_quotas.AlterClientQuotasRequest:
    entity = [
        alter_quotas.EntityData(entity_type="user", entity_name=USER),
        alter_quotas.EntityData(entity_type="client-id", entity_name=CLIENT),
    ]
    op = alter_quotas.OpData(key="consumer_byte_rate", value=1000.0, remove=remove)
    return alter_quotas.AlterClientQuotasRequest(
        entries=[alter_quotas.EntryData(entity=entity, ops=[op])]
    )


def component(type: str, match_type: int, match: str | None = None) -> quotas.ComponentData:
    return quotas.ComponentData(entity_type=type, match_type=match_type, match=match)


FILTERS = [
    quotas.DescribeClientQuotasRequest(components=[], strict=False),
    quotas.DescribeClientQuotasRequest(components=[component("user", 0, USER)], strict=False),
    quotas.DescribeClientQuotasRequest(components=[component("user", 0, USER)], strict=True),
    quotas.DescribeClientQuotasRequest(components=[component("user", 1)], strict=False),
    quotas.DescribeClientQuotasRequest(
        components=[component("user", 2), component("client-id", 0, CLIENT)], strict=True
    ),
    quotas.DescribeClientQuotasRequest(components=[component("user", 0)], strict=False),
    quotas.DescribeClientQuotasRequest(components=[component("user", 2)] * 2, strict=False),
    quotas.DescribeClientQuotasRequest(components=[component("shoe size", 2)], strict=False),
    quotas.DescribeClientQuotasRequest(components=[component("", 2)], strict=False),
    quotas.DescribeClientQuotasRequest(
        components=[component("user", 2), component("ip", 2)], strict=False
    ),
]


async def test_quotas_are_found_as_the_broker_finds_them(quorum: Cluster) -> None:
    async with both(quorum) as (served, ours, theirs):
        await ours.send(quota(remove=False))
        try:
            await served.mode.cluster.live.until(
                lambda image: len(image.client_quotas.entities) > 0
            )
            found = [await same(request, ours, theirs) for request in FILTERS]
        finally:
            await ours.send(quota(remove=True))
    assert [len(one.entries or ()) for one in found[:5]] == [1, 1, 0, 0, 1]
    assert [one.error_code for one in found[5:]] == [42, 42, 35, 42, 42]


async def test_credentials_are_described_as_the_broker_describes_them(quorum: Cluster) -> None:
    upsertion = alter_scram.ScramCredentialUpsertion(
        name=USER, mechanism=1, iterations=4096, salt=b"salt", salted_password=b"password"
    )
    deletion = alter_scram.ScramCredentialDeletion(name=USER, mechanism=1)
    made = alter_scram.AlterUserScramCredentialsRequest(deletions=[], upsertions=[upsertion])
    gone = alter_scram.AlterUserScramCredentialsRequest(deletions=[deletion], upsertions=[])

    def users(*names: str) -> scram.DescribeUserScramCredentialsRequest:
        listed = [scram.UserName(name=name) for name in names]
        return scram.DescribeUserScramCredentialsRequest(users=listed)

    everybody = scram.DescribeUserScramCredentialsRequest(users=None)
    async with both(quorum) as (served, ours, theirs):
        await ours.send(made)
        try:
            await served.mode.cluster.live.until(lambda image: len(image.scram.credentials) > 0)
            every = await same(everybody, ours, theirs)
            assert [(result.user, result.error_code) for result in every.results] == [(USER, 0)]
            assert every.results[0].credential_infos[0].iterations == 4096
            missing = await same(users("bob"), ours, theirs)
            assert [result.error_code for result in missing.results] == [91]
            twice = await same(users(USER, USER), ours, theirs)
            assert [result.error_code for result in twice.results] == [92]
        finally:
            await ours.send(gone)


async def test_a_node_itself_tells_its_configuration(quorum: Cluster) -> None:
    resources = [
        configs.DescribeConfigsResource(
            resource_type=4, resource_name=name, configuration_keys=("node.id",)
        )
        for name in ("3002", "1", "3000")
    ]
    async with both(quorum) as (served, ours, _):
        response: Any = await ours.send(configs.DescribeConfigsRequest(resources=resources))
    assert [(result.error_code, result.resource_name) for result in response.results] == [
        (0, "3002"),
        (0, "1"),
        (0, "3000"),
    ]
    assert [result.configs[0].value for result in response.results] == ["3002", "1", "3000"]
    assert served.handled("DescribeConfigs") == {"routed"}


async def test_api_versions_offers_what_can_be_had_here(quorum: Cluster) -> None:
    controller = controllers(quorum)[3000]
    async with both(quorum) as (served, ours, _):
        async with await Connection.open(controller.host, controller.port) as direct:
            plain = direct.node.api_versions
        offered = ours.node.api_versions
        assert {3, 48} <= offered.keys() - plain.keys()
        assert plain.keys() - offered.keys() == {41}
        assert str(offered[3]) == "0-13"
        assert ours.node.finalized_features == direct.node.finalized_features
        request = DescribeClusterRequest(endpoint_type=2)
        response: Any = await ours.send(request)
        told = {str(Address(broker.host, broker.port)) for broker in response.brokers}
        assert told == set(served.bootstrap.split(","))
