"""ZooKeeper's metadata as entries: a real one of Kafka 3.9.1, and broken znodes in it."""

import asyncio

import pytest

from kwire.errors import ConnectionFailed
from kwire.migration.operator.comparison import differences
from kwire.migration.operator.entries import EncryptedValue, EntryKind
from kwire.migration.operator.facts import ZooKeeperController
from kwire.migration.operator.image_entries import image_entries
from kwire.migration.operator.zookeeper_entries import ZooKeeperReading
from kwire.migration.operator.zookeeper_reading import ZooKeeperReader
from kwire.migration.operator.zookeeper_side import read_assigned, read_facts
from kwire.zookeeper import Create, Delete, SetData, ZnodeOperation
from kwire.zookeeper.password_encoder import PasswordEncoder
from kwire.zookeeper.znodes import MigrationZnode
from migrating.memory_zookeeper import MemoryZooKeeper
from tests.support.migration.golden import ENCODER_SECRET, golden_image, golden_zookeeper

BROKEN = b'{"version":1,'


async def read(
    server: MemoryZooKeeper, *changes: ZnodeOperation, secret: str | None = ENCODER_SECRET
) -> ZooKeeperReading:
    """Read all znodes, after some were changed."""
    session = server.open_session()
    await session.multi(changes)
    encoder = None if secret is None else PasswordEncoder(secret=secret)
    return await ZooKeeperReader(session, encoder=encoder).read()


@pytest.mark.parametrize("stage", ["dual-write", "dual-write-later"])
async def test_what_java_wrote_twice_is_the_same_on_both_sides(stage: str) -> None:
    server = golden_zookeeper(stage)
    reading = await read(server)
    position = (await read_facts(server.open_session(), "zk")).migration
    assert position is not None
    entries = image_entries(golden_image(position.kraft_metadata_offset))
    assert {kind: len(found) for kind, found in entries.items()} == {
        kind: len(found) for kind, found in reading.entries.items()
    }
    assert list(differences(reading.entries, entries)) == []
    assert reading.problems == []


async def test_the_facts_of_a_real_dual_write() -> None:
    facts = await read_facts(golden_zookeeper("dual-write").open_session(), "zk")
    assert facts.controller == ZooKeeperController(node_id=3000, kraft_epoch=1)
    assert facts.migration == MigrationZnode(
        kraft_controller_id=3000,
        kraft_controller_epoch=1,
        kraft_metadata_offset=118,
        kraft_metadata_epoch=1,
    )
    assert facts.controller_epoch == 4
    assert facts.broker_ids == {0, 1}


async def test_the_controller_of_zookeeper_mode_is_ephemeral() -> None:
    facts = await read_facts(golden_zookeeper("before").open_session(), "zk")
    assert facts.controller == ZooKeeperController(node_id=0, is_ephemeral=True)
    assert facts.migration is None


async def test_a_pending_deletion_is_an_entry() -> None:
    reading = await read(golden_zookeeper("claim"))
    assert reading.entries[EntryKind.PENDING_DELETION] == {"doomed": {}}


async def test_brokers_in_assignments_are_known_with_their_topics() -> None:
    server = golden_zookeeper("before")
    reading = await read(server)
    assigned = await read_assigned(server.open_session())
    assert set(assigned) == set(reading.assigned) == {0, 1}
    assert "orders" in assigned[0]
    assert "orders" in reading.assigned[0]


async def test_a_password_stays_encrypted_without_the_secret() -> None:
    reading = await read(golden_zookeeper("before"), secret=None)
    values = reading.entries[EntryKind.CONFIG]["broker 0"].values()
    assert [value for value in values if isinstance(value, EncryptedValue)]
    assert len(reading.encrypted) == 1
    assert "ScramLoginModule" not in repr(reading)


async def test_a_wrong_secret_is_a_problem_of_the_password() -> None:
    reading = await read(golden_zookeeper("before"), secret="another")
    (problem,) = reading.problems
    assert (problem.path, problem.is_password) == ("/config/brokers/0", True)


@pytest.mark.parametrize(
    "path",
    [
        "/brokers/topics/orders",
        "/brokers/topics/orders/partitions/0/state",
        "/config/topics/with.configs",
        "/config/users/alice",
        "/kafka-acl/Topic/orders",
        "/latest_producer_id_block",
    ],
)
async def test_a_broken_znode_is_noted_and_the_rest_is_read(path: str) -> None:
    whole = await read(golden_zookeeper("before"))
    reading = await read(golden_zookeeper("before"), SetData(path, BROKEN))
    assert {problem.path for problem in reading.problems} == {path}
    # A topic has three partitions, a user quotas and credentials.
    assert 0 < whole.count - reading.count <= 4


async def test_a_partition_with_a_broken_state_is_not_taken_for_one_without() -> None:
    path = "/brokers/topics/grown/partitions/0/state"
    reading = await read(golden_zookeeper("before"), SetData(path, BROKEN))
    assert reading.no_state == set()
    assert "grown-0" not in reading.entries[EntryKind.PARTITION]
    assert "grown-1" in reading.entries[EntryKind.PARTITION]


async def test_acls_of_a_type_that_kafka_does_not_have_are_a_problem() -> None:
    path = "/kafka-acl/Unheard/of"
    changes = [Create("/kafka-acl/Unheard"), Create(path)]
    reading = await read(golden_zookeeper("before"), *changes)
    (problem,) = reading.problems
    assert problem.path == path
    assert problem.reason == "'Unheard' is no resource type that Kafka 3.9 has"


async def test_credentials_of_the_default_user_have_the_name_that_the_copy_gives_them() -> None:
    server = golden_zookeeper("before")
    data = server.tree["/config/users/alice"].data
    reading = await read(server, SetData("/config/users/<default>", data))
    credentials = reading.entries[EntryKind.SCRAM]
    assert credentials["<default>"] == credentials["alice"]


@pytest.mark.parametrize("kind", EntryKind)
async def test_a_kind_alone_is_as_in_the_whole(kind: EntryKind) -> None:
    server = golden_zookeeper("claim")
    whole = await read(server)
    alone = await ZooKeeperReader(
        server.open_session(), encoder=PasswordEncoder(secret=ENCODER_SECRET)
    ).read([kind])
    together = [
        {EntryKind.TOPIC, EntryKind.PARTITION},
        {EntryKind.QUOTA, EntryKind.SCRAM},
    ]
    kinds = next((kinds for kinds in together if kind in kinds), {kind})
    assert alone.entries == {
        kind: entries if kind in kinds else {} for kind, entries in whole.entries.items()
    }


async def test_chosen_topics_are_read_alone_with_their_partitions() -> None:
    reader = ZooKeeperReader(golden_zookeeper("before").open_session())
    reading = await reader.read([EntryKind.PARTITION], ["grown", "absent"])
    assert [*reading.entries[EntryKind.TOPIC]] == ["grown"]
    partitions = reading.entries[EntryKind.PARTITION]
    assert {name.rpartition("-")[0] for name in partitions} == {"grown"}


async def test_a_quota_that_is_no_number_is_told_apart() -> None:
    content = b'{"version":1,"config":{"producer_byte_rate":"much"}}'
    reading = await read(
        golden_zookeeper("before"), SetData("/config/clients/client%20one", content)
    )
    (problem,) = reading.problems
    assert (problem.path, problem.is_quota) == ("/config/clients/client%20one", True)


async def test_a_topic_without_an_id_is_noted() -> None:
    content = b'{"version":1,"partitions":{"0":[0]}}'
    reading = await read(golden_zookeeper("before"), SetData("/brokers/topics/grown", content))
    assert reading.without_id == ["grown"]


async def test_a_partition_without_a_state_is_taken_as_the_copy_takes_it() -> None:
    path = "/brokers/topics/grown/partitions/0/state"
    reading = await read(golden_zookeeper("before"), Delete(path))
    assert reading.no_state == {"grown-0"}
    fields = reading.entries[EntryKind.PARTITION]["grown-0"]
    assert (fields["leader"], fields["isr"], fields["leaderEpoch"]) == (0, [0, 1], 0)


async def test_another_zookeeper_is_refused_in_a_sentence() -> None:
    with pytest.raises(ConnectionFailed, match=r"ZooKeeper zk:1 is not that .*: it is empty$"):
        await read_facts(MemoryZooKeeper().open_session(), "zk:1")


async def test_many_reads_end_with_the_first_lost_connection() -> None:
    server = golden_zookeeper("before")
    session = server.open_session()
    reading = asyncio.create_task(ZooKeeperReader(session).read())
    await asyncio.sleep(0)
    server.disconnect(session)
    with pytest.raises(ConnectionFailed):
        await reading
