"""All metadata is read at once: each kind, what is absent, what is broken, and a large cluster."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import fields, replace

import pytest

from kwire.messages.access_control import AclResourceType, PatternType
from kwire.zookeeper import (
    ConnectionLost,
    Create,
    Delete,
    InvalidZnode,
    SetData,
    Watch,
    Znode,
    ZooKeeper,
)
from kwire.zookeeper.metadata import read_metadata
from kwire.zookeeper.paths import parent_of
from kwire.zookeeper.znodes import AclResource, ConfigZnode, TopicZnode
from kwire.zookeeper.zookeeper_metadata import MetadataPart, ZooKeeperMetadata
from migrating.memory_zookeeper import LoopCarrier, MemorySession, MemoryZooKeeper
from tests.support.zookeeper.sample_tree import (
    ACL,
    TOKEN,
    entries,
    state,
    topic,
    topic_entries,
    write_tree,
)
from tests.support.zookeeper.trees import delete_below

OpenSession = Callable[[], Awaitable[ZooKeeper]]


async def test_each_kind_is_read(open_session: OpenSession) -> None:
    zookeeper = await open_session()
    await write_tree(zookeeper, entries())
    await write_tree(zookeeper, topic_entries(2, 3))
    metadata = await read_metadata(zookeeper)
    assert metadata.cluster_id is not None
    assert metadata.cluster_id.value.cluster_id == "u-8fLEuSRzGSBf2DqsI2AA"
    assert metadata.controller is not None
    assert (metadata.controller.value.broker_id, metadata.controller.version) == (1, 0)
    assert metadata.controller_epoch is not None
    assert metadata.controller_epoch.value.epoch == 7
    assert metadata.migration is not None
    assert not metadata.migration.value.is_copied
    assert metadata.producer_ids is not None
    assert (metadata.producer_ids.value.next_producer_id, metadata.producer_ids.version) == (
        1000,
        1,
    )
    assert metadata.feature is not None
    assert list(metadata.brokers) == [1]
    assert metadata.pending_deletions == {"old"}
    config = ConfigZnode({"k": "1"})
    for configs in (
        metadata.topic_configs,
        metadata.broker_configs,
        metadata.clients,
        metadata.ips,
    ):
        assert {name: stored.value for name, stored in configs.items()} == {
            "x y": config,
            None: config,
        }
    assert {name: stored.value for name, stored in metadata.users.items()} == {
        "x y": config,
        None: config,
        "only client": ConfigZnode(),
    }
    assert set(metadata.user_clients) == {("x y", None), ("only client", "c/d")}
    assert {resource: stored.value for resource, stored in metadata.acls.items()} == {
        AclResource(AclResourceType.TOPIC, "t", PatternType.LITERAL): ACL,
        AclResource(AclResourceType.TOPIC, "t", PatternType.PREFIXED): ACL,
    }
    assert metadata.delegation_tokens["t1"].value == TOKEN
    assert {name: found.topic.value for name, found in metadata.topics.items()} == {
        "topic-0": topic(0, 3),
        "topic-1": topic(1, 3),
    }
    states = metadata.topics["topic-1"].states
    assert {number: stored.value for number, stored in states.items()} == {
        number: state(number) for number in range(3)
    }


async def test_an_empty_zookeeper_has_no_metadata(open_session: OpenSession) -> None:
    assert await read_metadata(await open_session()) == ZooKeeperMetadata()


async def test_a_partition_without_a_state_is_left_out() -> None:
    zookeeper = MemoryZooKeeper().open_session()
    await write_tree(zookeeper, topic_entries(1, 2))
    await zookeeper.multi(
        [SetData("/brokers/topics/topic-0/partitions/0/state", state(0).encode())]
    )
    await zookeeper.multi([Delete("/brokers/topics/topic-0/partitions/1/state")])
    (found,) = (await read_metadata(zookeeper)).topics.values()
    assert {partition: stored.version for partition, stored in found.states.items()} == {0: 1}


BROKEN = [
    "/cluster/id",
    "/controller",
    "/controller_epoch",
    "/migration",
    "/feature",
    "/latest_producer_id_block",
    "/brokers/ids/1",
    "/config/topics/x%20y",
    "/config/users/x%20y",
    "/config/users/x%20y/clients/<default>",
    "/config/ips/<default>",
    "/kafka-acl/Topic/t",
    "/kafka-acl-extended/prefixed/Topic/t",
    "/delegation_token/tokens/t1",
    "/brokers/topics/topic-0",
    "/brokers/topics/topic-0/partitions/1/state",
]


@pytest.mark.parametrize("path", BROKEN)
async def test_a_broken_znode_is_named_and_can_be_left_out(path: str) -> None:
    zookeeper = MemoryZooKeeper().open_session()
    await write_tree(zookeeper, entries())
    await write_tree(zookeeper, topic_entries(1, 2))
    await zookeeper.multi([SetData(path, b'{"secret":')])
    with pytest.raises(InvalidZnode) as refused:
        await read_metadata(zookeeper)
    assert refused.value.path == path
    assert "secret" not in str(refused.value)
    found: list[str] = []
    metadata = await read_metadata(zookeeper, on_invalid=lambda error: found.append(error.path))
    assert found == [path]
    assert len(metadata.topics) == (0 if path == "/brokers/topics/topic-0" else 1)


async def test_children_of_brokers_that_are_no_ids_are_ignored() -> None:
    zookeeper = MemoryZooKeeper().open_session()
    await write_tree(zookeeper, entries())
    for name in ("x", "-1", "٣", "9" * 5000):
        await zookeeper.multi([Create(f"/brokers/ids/{name}", b"?")])
    assert list((await read_metadata(zookeeper)).brokers) == [1]


async def test_an_invalid_name_of_an_entity_is_named() -> None:
    zookeeper = MemoryZooKeeper().open_session()
    await write_tree(zookeeper, entries())
    await zookeeper.multi([Create("/config/clients/%zz", b"")])
    with pytest.raises(InvalidZnode, match=r"^znode /config/clients/%zz: "):
        await read_metadata(zookeeper)


@pytest.mark.parametrize("how", ["disconnect", "expire", "expire_unnoticed"])
async def test_a_connection_or_session_that_ends_ends_the_reading(how: str) -> None:
    server = MemoryZooKeeper()
    zookeeper = server.open_session()
    await write_tree(zookeeper, topic_entries(50, 50))
    seen: list[tuple[str, int, int]] = []

    def progress(noun: str, done: int, total: int) -> None:
        seen.append((noun, done, total))
        if done == 100:
            getattr(server, how)(zookeeper)

    with pytest.raises(ConnectionLost):
        await read_metadata(zookeeper, progress=progress)
    assert seen[-1][1] < 2500
    assert len(asyncio.all_tasks()) == 1


FIELDS = {
    MetadataPart.CLUSTER: {"cluster_id", "controller", "controller_epoch", "migration", "feature"},
    MetadataPart.PRODUCER_IDS: {"producer_ids"},
    MetadataPart.BROKERS: {"brokers"},
    MetadataPart.PENDING_DELETIONS: {"pending_deletions"},
    MetadataPart.TOPICS: {"topics"},
    MetadataPart.PARTITION_STATES: set(),
    MetadataPart.CONFIGS: {"topic_configs", "broker_configs"},
    MetadataPart.QUOTAS: {"users", "clients", "ips", "user_clients"},
    MetadataPart.ACLS: {"acls", "unknown_acls"},
    MetadataPart.DELEGATION_TOKENS: {"delegation_tokens"},
}


@pytest.mark.parametrize("part", MetadataPart, ids=lambda part: part.name)
async def test_a_part_can_be_read_alone(part: MetadataPart) -> None:
    zookeeper = MemoryZooKeeper().open_session()
    await write_tree(zookeeper, entries())
    await write_tree(zookeeper, topic_entries(2, 3))
    whole, alone = (
        await read_metadata(zookeeper),
        await read_metadata(zookeeper, parts={part, MetadataPart.PARTITION_STATES}),
    )
    differing = {
        field.name
        for field in fields(alone)
        if getattr(alone, field.name) != getattr(ZooKeeperMetadata(), field.name)
    }
    assert differing == FIELDS[part]
    for name in differing:
        assert getattr(alone, name) == getattr(whole, name)


async def test_topics_can_be_chosen_and_read_without_states() -> None:
    zookeeper = MemoryZooKeeper().open_session()
    await write_tree(zookeeper, topic_entries(3, 2))
    names = ["topic-2", "absent"]
    found = await read_metadata(zookeeper, topics=names)
    assert {name: [*found.topics[name].states] for name in found.topics} == {"topic-2": [0, 1]}
    found = await read_metadata(zookeeper, topics=names, parts={MetadataPart.TOPICS})
    assert {name: [*found.topics[name].states] for name in found.topics} == {"topic-2": []}


async def test_acls_of_unknown_types_are_told_by_path_and_not_read() -> None:
    zookeeper = MemoryZooKeeper().open_session()
    await write_tree(zookeeper, entries())
    metadata = await read_metadata(zookeeper)
    assert metadata.unknown_acls == ("/kafka-acl/Unheard/of",)


@pytest.mark.parametrize(("is_null", "is_empty"), [(True, False), (False, True)])
async def test_producer_ids_without_data_and_with_none_are_told_apart(
    is_null: bool, is_empty: bool
) -> None:
    class NullSession(MemorySession):
        async def get(self, path: str, *, watch: Watch | None = None) -> Znode:
            return replace(await super().get(path, watch=watch), is_null=is_null)

    server = MemoryZooKeeper()
    session = server.admit(NullSession(server, LoopCarrier()))
    await session.multi([Create("/latest_producer_id_block")])
    metadata = await read_metadata(session)
    assert (metadata.producer_ids, metadata.has_empty_producer_ids) == (None, is_empty)


async def delete_tree(server: MemoryZooKeeper, path: str) -> None:
    """Delete a znode with all below it, if it is there."""
    other = server.open_session()
    if await other.exists(path):
        await delete_below(other, path)
        await other.multi([Delete(path)])


class DeletingSession(MemorySession):
    """Deletes a znode, with all below it, right after its parent's children were listed."""

    deleted = ""

    async def children(self, path: str, *, watch: Watch | None = None) -> list[str]:
        """Return the names of a znode's children."""
        names = await super().children(path, watch=watch)
        if path == parent_of(self.deleted):
            await delete_tree(self.server, self.deleted)
        return names


LISTED = [
    "/brokers/ids/1",
    "/brokers/topics/topic-0",
    "/config/topics/x%20y",
    "/config/users/x%20y",
    "/config/users/x%20y/clients/<default>",
    "/kafka-acl/Topic",
    "/kafka-acl/Topic/t",
    "/delegation_token/tokens/t1",
]


@pytest.mark.parametrize("path", LISTED)
async def test_what_is_deleted_after_it_was_listed_is_left_out(path: str) -> None:
    server = MemoryZooKeeper()
    writer = server.open_session()
    await write_tree(writer, entries())
    await write_tree(writer, topic_entries(2, 2))
    session = server.admit(DeletingSession(server, LoopCarrier()))
    session.deleted = path
    found = await read_metadata(session)
    assert await writer.exists(path) is None
    assert found == await read_metadata(writer)


class DeletingReader(MemorySession):
    """Deletes a topic right after its znode was read, before its partitions are."""

    async def get(self, path: str, *, watch: Watch | None = None) -> Znode:
        """Return a znode."""
        znode = await super().get(path, watch=watch)
        if path == TopicZnode.path("topic-0"):
            await delete_tree(self.server, path)
        return znode


async def test_a_topic_that_is_deleted_before_its_partitions_are_read_is_left_out() -> None:
    server = MemoryZooKeeper()
    await write_tree(server.open_session(), topic_entries(2, 2))
    session = server.admit(DeletingReader(server, LoopCarrier()))
    assert list((await read_metadata(session)).topics) == ["topic-1"]


class CountingSession(MemorySession):
    """Counts the listings that are under way at a time."""

    under_way = 0
    highest = 0

    async def children(self, path: str, *, watch: Watch | None = None) -> list[str]:
        """Return the names of a znode's children."""
        self.under_way += 1
        self.highest = max(self.highest, self.under_way)
        try:
            return await super().children(path, watch=watch)
        finally:
            self.under_way -= 1


async def test_acls_of_all_types_are_listed_side_by_side() -> None:
    server = MemoryZooKeeper()
    session = server.admit(CountingSession(server, LoopCarrier()))
    types = ["Topic", "Group", "Cluster", "TransactionalId"]
    paths = ["/kafka-acl", *(f"/kafka-acl/{type}" for type in types)]
    await session.multi([Create(path) for path in paths])
    await read_metadata(session, parts={MetadataPart.ACLS})
    assert session.highest == len(types)


async def read_partitions(zookeeper: ZooKeeper, topics: int) -> None:
    """Write topics of 50 partitions, and read them again, with progress."""
    await write_tree(zookeeper, topic_entries(topics, 50))
    seen: list[tuple[str, int, int]] = []
    metadata = await read_metadata(
        zookeeper, progress=lambda noun, done, total: seen.append((noun, done, total))
    )
    assert sum(len(found.states) for found in metadata.topics.values()) == topics * 50
    partitions = [done for noun, done, total in seen if noun == "partitions"]
    assert partitions == [*range(100, topics * 50 + 1, 100)]


async def test_many_partitions_are_read_with_progress(open_session: OpenSession) -> None:
    await read_partitions(await open_session(), 40)


@pytest.mark.nightly
async def test_twenty_thousand_partitions_are_read(open_session: OpenSession) -> None:
    await read_partitions(await open_session(), 400)
