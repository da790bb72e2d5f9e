"""Both sides compared while they move, with the data of a real migration by Kafka 3.9.1."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from msgspec import structs

from kwire.doctor.finding import FindingVerdict
from kwire.errors import ConnectionFailed
from kwire.image import MetadataImage
from kwire.image.partition import MIGRATING
from kwire.migration.operator.entries import HiddenValue
from kwire.migration.operator.later_images import PastImage
from kwire.migration.operator.report import comparison_findings, unwritten_findings
from kwire.migration.operator.verify import SideComparer, SideComparison
from kwire.migration.operator.zookeeper_reading import ZooKeeperReader
from kwire.zookeeper import Create, Delete, SetData, ZnodeOperation
from kwire.zookeeper.password_encoder import PasswordEncoder
from kwire.zookeeper.znodes import ConfigZnode, MigrationZnode
from migrating.memory_zookeeper import MemoryZooKeeper
from tests.support.migration.golden import ENCODER_SECRET, golden_images, golden_zookeeper

STATE = "/brokers/topics/orders/partitions/0/state"
MADE = "/brokers/topics/made.in.dual.write"
MADE_STATE = f"{MADE}/partitions/0/state"
OTHER_LEADER = b'{"version":1,"leader":1,"leader_epoch":7,"controller_epoch":3,"isr":[1]}'


class RecordedLog:
    """The log of the real migration; first: the offset at which it begins."""

    def __init__(self, first: int = 0) -> None:
        self._images = [item for item in golden_images() if item[0] >= first]

    @property
    def image(self) -> MetadataImage:
        return self._images[-1][1]

    def at(self, offset: int) -> MetadataImage | None:
        images = [image for last, image in self._images if last <= offset]
        return images[-1] if images else None

    def since(self, offset: int) -> list[PastImage]:
        first = self.at(offset)
        later = [item for item in self._images if item[0] > offset]
        return later if first is None else [(offset, first), *later]

    async def until(self, offset: int) -> bool:
        return offset <= self._images[-1][0]


async def compare(
    server: MemoryZooKeeper,
    *changes: ZnodeOperation,
    then: Callable[[], None] = lambda: None,
    first: int = 0,
    secret: str | None = ENCODER_SECRET,
) -> SideComparison:
    """Compare after some znodes were changed. then: is called before each further look."""
    session = server.open_session()
    await session.multi(changes)

    async def pause() -> None:
        then()

    encoder = None if secret is None else PasswordEncoder(secret=secret)
    reader = ZooKeeperReader(session, encoder=encoder)
    return await SideComparer(session, reader, RecordedLog(first), pause=pause).compare()


def found(comparison: SideComparison) -> dict[str, FindingVerdict]:
    return {item.id: item.verdict for item in comparison_findings(comparison)}


def copied_topic(image: MetadataImage, name: str) -> MetadataImage:
    """Return an image in which a topic was copied: its replicas have no directories."""
    topic = image.topics.topic(name)
    assert topic is not None
    bare = {
        number: structs.replace(item, directories=tuple(MIGRATING for _ in item.replicas))
        for number, item in topic.partitions.items()
    }
    by_id = image.topics.by_id.insert(topic.id, topic.with_partitions(bare))
    return structs.replace(image, topics=structs.replace(image.topics, by_id=by_id))


PROBLEM, INFO = FindingVerdict.PROBLEM, FindingVerdict.INFO
CLEAN = {"difference/none": FindingVerdict.OK}
AHEAD = {"difference/ahead": INFO}


@pytest.mark.parametrize("stage", ["dual-write", "dual-write-later"])
async def test_a_real_dual_write_is_clean_at_the_first_look(stage: str) -> None:
    comparison = await compare(golden_zookeeper(stage))
    assert found(comparison) == CLEAN
    assert (comparison.looks, comparison.is_exact, comparison.moving) == (1, True, ())


async def test_a_value_of_a_later_record_is_on_its_way_and_no_difference() -> None:
    """Znodes of a batch are written before /migration gets its offset."""
    later, server = golden_zookeeper("dual-write-later"), golden_zookeeper("dual-write")
    names = [path for path in later.tree if path.startswith("/brokers/topics/made.in.dual.write")]
    for path in [*names, "/config/topics/made.in.dual.write", "/brokers/topics"]:
        server.tree = server.tree.insert(path, later.tree[path])
    assert found(await compare(server)) == AHEAD | CLEAN


@pytest.mark.parametrize(
    ("change", "finding"),
    [
        (SetData(STATE, OTHER_LEADER), "difference/changed"),
        (Delete("/config/topics/with.configs"), "difference/missing"),
        (Delete(STATE), "trap/partitions-missing"),
        (SetData("/config/users/alice", b""), "difference/missing"),
        (
            SetData(
                "/latest_producer_id_block",
                b'{"version":1,"broker":0,"block_start":"0","block_end":"499999"}',
            ),
            "difference/changed",
        ),
        (SetData("/kafka-acl/Topic/orders", b""), "difference/missing"),
    ],
    ids=["leader", "config", "state", "user", "producer ids", "ACLs"],
)
async def test_a_write_that_failed_is_found(change: ZnodeOperation, finding: str) -> None:
    comparison = await compare(golden_zookeeper("dual-write"), change)
    assert {finding} <= {id for id, verdict in found(comparison).items() if verdict is PROBLEM}
    assert "difference/none" not in found(comparison)


async def test_a_new_topic_without_a_state_is_kafkas_trap_though_the_values_are_the_same() -> None:
    """PartitionRegistration.equals compares directories, too, and ZooKeeper has none.

    A leader that died in the middle of the znodes of a new topic leaves it so.
    """
    server = golden_zookeeper("dual-write-later")
    comparison = await compare(server, Delete(MADE_STATE))
    assert comparison.looks > 1
    assert found(comparison) == {"trap/partitions-missing": PROBLEM}


async def test_a_state_that_is_not_there_and_would_say_what_kafka_assumes_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Copied, in its first epoch, led by the first replica: a synchronisation writes nothing."""
    monkeypatch.setattr(
        RecordedLog, "image", copied_topic(RecordedLog().image, "made.in.dual.write")
    )
    server = golden_zookeeper("dual-write-later")
    comparison = await compare(server, Delete(MADE_STATE))
    assert found(comparison) == {"difference/no-state": INFO, **CLEAN}


async def test_a_new_topic_that_gets_its_state_meanwhile_is_no_difference() -> None:
    server = golden_zookeeper("dual-write-later")
    right = server.tree

    def write() -> None:
        server.tree = right

    assert found(await compare(server, Delete(MADE_STATE), then=write)) == CLEAN


async def test_what_a_failing_synchronisation_has_not_written_would_be_lost() -> None:
    """It wrote a topic as it was in between; /migration did not move."""
    later, server = golden_zookeeper("dual-write-later"), golden_zookeeper("dual-write")
    for path in [path for path in later.tree if path.startswith(MADE)] + ["/brokers/topics"]:
        server.tree = server.tree.insert(path, later.tree[path])
    server.tree = server.tree.insert(MADE_STATE, replace(later.tree[MADE_STATE], data=OTHER_LEADER))
    comparison = await compare(server)
    assert found(comparison) == AHEAD | CLEAN
    (lost,) = unwritten_findings(comparison.unwritten_in(RecordedLog().image))
    assert lost.id == "way-back/would-lose"
    assert "partition made.in.dual.write-0" in lost.evidence


async def test_a_state_that_is_there_at_the_second_look_is_not_told_as_absent() -> None:
    server = golden_zookeeper("dual-write")
    right = server.tree[STATE]

    def write() -> None:
        server.tree = server.tree.insert(STATE, right)

    assert found(await compare(server, Delete(STATE), then=write)) == CLEAN


async def test_a_topic_that_is_missing_or_extra_is_found_with_its_partitions() -> None:
    server = golden_zookeeper("dual-write")
    path = "/brokers/topics/orders"
    for name in [name for name in server.tree if name == path or name.startswith(path + "/")]:
        server.tree = server.tree.remove(name)
    parent = server.tree["/brokers/topics"]
    children = parent.children.remove("orders")
    server.tree = server.tree.insert("/brokers/topics", replace(parent, children=children))
    comparison = await compare(server)
    kinds = {(item.kind.value, item.name) for item in comparison.differences}
    assert ("topic", "orders") in kinds
    assert ("partition", "orders-0") in kinds
    assert found(comparison)["difference/missing"] is PROBLEM


async def test_configuration_of_a_topic_that_neither_side_has_is_kafkas_trap() -> None:
    """Kafka 3.9.1 has been seen to write it after a failover."""
    server = golden_zookeeper("dual-write")
    parent = server.tree["/config/topics"]
    node = server.tree["/config/topics/with.configs"]
    children = parent.children.insert("gone")
    server.tree = server.tree.insert("/config/topics", replace(parent, children=children))
    server.tree = server.tree.insert("/config/topics/gone", node)
    told = found(await compare(server))
    assert told.pop("trap/config-of-no-topic") is FindingVerdict.WARNING
    assert FindingVerdict.PROBLEM not in told.values()


async def test_a_quota_that_was_left_is_named_as_kafkas_trap() -> None:
    server = golden_zookeeper("dual-write")
    content = b'{"version":1,"config":{"producer_byte_rate":"1"}}'
    parent = server.tree["/config/clients"]
    server.tree = server.tree.insert(
        "/config/clients", replace(parent, children=parent.children.insert("gone"))
    )
    node = server.tree["/config/clients/client%20one"]
    server.tree = server.tree.insert("/config/clients/gone", replace(node, data=content))
    assert found(await compare(server)) == {"trap/quota-left": PROBLEM}


async def test_a_znode_that_is_written_meanwhile_is_no_difference() -> None:
    server = golden_zookeeper("dual-write")
    right = server.tree[STATE]

    def write() -> None:
        server.tree = server.tree.insert(STATE, right)

    comparison = await compare(server, SetData(STATE, OTHER_LEADER), then=write)
    assert found(comparison) == CLEAN


async def test_a_znode_that_is_another_at_each_look_is_moving() -> None:
    server = golden_zookeeper("dual-write")
    epochs = iter(range(8, 20))

    def write() -> None:
        data = OTHER_LEADER.replace(b":7,", b":%d," % next(epochs))
        server.tree = server.tree.insert(STATE, replace(server.tree[STATE], data=data))

    comparison = await compare(server, SetData(STATE, OTHER_LEADER), then=write)
    assert "orders-0" in comparison.moving
    assert found(comparison)["sight/moving"] is FindingVerdict.UNKNOWN
    assert "difference/none" not in found(comparison)


async def test_a_plugins_configuration_of_a_broker_may_be_a_secret() -> None:
    config = ConfigZnode({"my.reporter.api.key": "hush", "message.max.bytes": "7"}).encode()
    comparison = await compare(golden_zookeeper("dual-write"), Create("/config/brokers/9", config))
    (item,) = [item for item in comparison.differences if item.name == "broker 9"]
    assert item.zookeeper == {
        "my.reporter.api.key": HiddenValue.of("hush"),
        "message.max.bytes": "7",
    }
    assert "hush" not in str(comparison.differences)


async def test_a_migration_that_goes_on_does_not_stand_still() -> None:
    server = golden_zookeeper("dual-write")
    session = server.open_session()
    offsets = iter((118, 118, 119))

    async def pause() -> None:
        znode = MigrationZnode(kraft_metadata_offset=next(offsets), kraft_metadata_epoch=1)
        server.tree = server.tree.insert(
            MigrationZnode.path, replace(server.tree[MigrationZnode.path], data=znode.encode())
        )

    comparer = SideComparer(session, ZooKeeperReader(session), RecordedLog(), pause=pause)
    still = MigrationZnode(kraft_metadata_offset=118, kraft_metadata_epoch=1)
    assert await comparer.stands_still(still) is False
    offsets = iter((118, 118, 118))
    assert await comparer.stands_still(still) is True


async def test_without_the_secret_passwords_are_not_compared_and_no_difference() -> None:
    comparison = await compare(golden_zookeeper("dual-write"), secret=None)
    assert found(comparison) == {"sight/passwords": INFO, **CLEAN}


async def test_a_log_that_begins_later_is_compared_as_it_is_now() -> None:
    comparison = await compare(golden_zookeeper("dual-write"), first=121)
    assert comparison.is_exact is False
    assert found(comparison)["sight/other-offset"] is FindingVerdict.WARNING


async def test_a_migration_that_goes_away_ends_the_comparison() -> None:
    with pytest.raises(ConnectionFailed, match="/migration went away"):
        await compare(golden_zookeeper("reverted"))


async def test_other_controllers_have_not_the_records() -> None:
    content = b'{"version":0,"kraft_controller_id":1,"kraft_controller_epoch":1,'
    content += b'"kraft_metadata_offset":999,"kraft_metadata_epoch":1}'
    with pytest.raises(ConnectionFailed, match="check that these are the controllers"):
        await compare(golden_zookeeper("dual-write"), SetData("/migration", content))
