"""Each finding before a copy, beside what Kafka 3.9.1's own classes do with such a ZooKeeper."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

import pytest

from kwire.messages.records.config import ConfigRecord
from kwire.migration.operator.preflight import preflight_findings
from kwire.migration.operator.zookeeper_entries import ZooKeeperReading
from kwire.migration.operator.zookeeper_reading import ZooKeeperReader
from kwire.zookeeper import InvalidZnode
from kwire.zookeeper.password_encoder import PasswordEncoder
from kwire.zookeeper.znodes.top_level import PERSISTENT_PATHS, with_parents
from migrating.memory_zookeeper import MemoryZooKeeper
from migrating.migration_judge import JudgedTree, MigrationJudge, PreparedZnode
from tests.support.migration.driver.znode_trees import memory_tree, metadata_in
from tests.support.migration.sides import zookeeper

pytestmark = [pytest.mark.java, pytest.mark.migrations]

Outcome = Literal["waits", "ends", "copied"]
Tree = Sequence[PreparedZnode]

EPOCH: PreparedZnode = ("/controller_epoch", b"3", 0)
TOPIC, STATE = "/brokers/topics/a", "/brokers/topics/a/partitions/0/state"
NO_ID = b'{"version":2,"partitions":{"0":[1]}}'
GOOD = b'{"version":3,"topic_id":"iKFJZ3D2TsW_gqFN_ovwEQ","partitions":{"0":[1]}}'
ACL = b'{"principal":"User:a","permissionType":"Allow","operation":"Read","host":"*"}'
SCRAM = b"salt=c2VjcmV0,stored_key=eA==,server_key=eA==,iterations=4096"
TOKEN = "/delegation_token/tokens/t"
PRODUCER_IDS = "/latest_producer_id_block"
MADE = {path for top in PERSISTENT_PATHS for path in with_parents(top)}


def znode(path: str, data: bytes | None = None) -> Tree:
    """Return a znode, with those above it that Kafka has not made at its start."""
    parts = path.split("/")[1:]
    above = ["/" + "/".join(parts[:end]) for end in range(1, len(parts))]
    return [*((parent, None, 0) for parent in above if parent not in MADE), (path, data, 0)]


def config(path: str, values: Mapping[str, bytes]) -> Tree:
    """Return a znode with configurations or quotas."""
    pairs = b",".join(b'"%s":"%s"' % (name.encode(), value) for name, value in values.items())
    return znode(path, b'{"version":1,"config":{%s}}' % pairs)


def topic(data: bytes | None = GOOD) -> Tree:
    return [(TOPIC, data, 0)]


def state(data: bytes) -> Tree:
    paths = (f"{TOPIC}/partitions", f"{TOPIC}/partitions/0")
    return [*topic(), *((path, None, 0) for path in paths), (STATE, data, 0)]


STATE_OF = b'{"version":1,"controller_epoch":1,"leader_epoch":1,"leader":%d,"isr":%s}'
PAIR = "/config/users/u/clients/c"
QUOTA = {"producer_byte_rate": b"much"}

CASES: list[tuple[str, Tree, Outcome, str]] = [
    # name, ZooKeeper, what Kafka does, the finding
    ("nothing wrong", topic(), "copied", "before/ok"),
    ("topic without id", topic(NO_ID), "waits", "before/no-topic-id"),
    ("topic, no JSON", topic(b"{"), "waits", "before/broken-znode"),
    ("topic, no object", topic(b"[]"), "waits", "before/broken-znode"),
    (
        "no replicas",
        topic(GOOD.replace(b"[1]", b"[]")),
        "ends",
        "before/inconsistent-partition",
    ),
    ("state, no field", state(b"{}"), "ends", "before/broken-znode"),
    (
        "ACL, version 2",
        znode("/kafka-acl/Topic/a", b'{"version":2,"acls":[%s]}' % ACL),
        "ends",
        "before/broken-znode",
    ),
    ("token, no field", znode(TOKEN, b"{}"), "ends", "before/broken-znode"),
    ("producer ids, no JSON", znode(PRODUCER_IDS, b"{"), "ends", "before/broken-znode"),
    ("producer ids, no bytes", znode(PRODUCER_IDS, b""), "ends", "before/empty-producer-ids"),
    ("producer ids, null", znode(PRODUCER_IDS), "copied", "before/ok"),
    ("quota of a user", config("/config/users/u", QUOTA), "ends", "before/unreadable-quota"),
    ("quota of a pair", config(PAIR, QUOTA), "ends", "before/unreadable-quota"),
    ("quota of an ip", config("/config/ips/::1", QUOTA), "ends", "before/unreadable-quota"),
    (
        "credential of a pair",
        config(PAIR, {"SCRAM-SHA-256": SCRAM}),
        "ends",
        "before/credential-of-a-pair",
    ),
    (
        "configuration of no broker",
        config("/config/brokers/one", {"log.retention.ms": b"7"}),
        "ends",
        "before/config-of-no-broker",
    ),
    (
        "deletion of a topic without id",
        [*topic(NO_ID), *znode("/admin/delete_topics/a")],
        "copied",
        "before/ok",
    ),
    (
        "deletion on a dead broker",
        [*topic(GOOD.replace(b"[1]", b"[7]")), *znode("/admin/delete_topics/a")],
        "copied",
        "before/ok",
    ),
]

HARMFUL: list[tuple[str, Tree, str]] = [
    # what Kafka copies without a word, and the finding
    (
        "two topics with one id",
        [*topic(), ("/brokers/topics/b", GOOD, 0)],
        "before/doubled-topic-id",
    ),
    ("a gap", topic(GOOD.replace(b'"0"', b'"1"')), "before/partition-gaps"),
    ("a replica twice", topic(GOOD.replace(b"[1]", b"[1,1]")), "before/inconsistent-partition"),
    ("leader outside", state(STATE_OF % (2, b"[1]")), "before/inconsistent-partition"),
    ("no leader", state(STATE_OF % (-1, b"[]")), "before/no-leader"),
    ("a name", [("/brokers/topics/a b", GOOD, 0)], "before/invalid-topic-name"),
    (
        "a value",
        [*topic(), *config("/config/topics/a", {"retention.ms": b"soon"})],
        "before/refused-value",
    ),
    (
        "no topic",
        config("/config/topics/gone", {"retention.ms": b"7"}),
        "before/config-of-no-topic",
    ),
]

LOST: list[tuple[str, Tree, int]] = [
    # name, ZooKeeper, records that Kafka copies
    ("state", state(b"{"), 2),
    ("configuration", znode("/config/brokers/1", b"{"), 0),
    ("quotas", znode("/config/users/u", b"{"), 0),
    ("ACL", znode("/kafka-acl/Topic/a", b"{"), 0),
    ("token", znode(TOKEN, b"{"), 0),
]


@pytest.fixture(scope="module")
def judge() -> Iterator[MigrationJudge]:
    with MigrationJudge() as judge:
        yield judge


async def read(tree: JudgedTree, secret: str | None) -> ZooKeeperReading:
    server = MemoryZooKeeper()
    server.tree = memory_tree(tree)
    if tree[PRODUCER_IDS].data is None:
        # The server in memory has no null: what nobody has made is the same to both readers.
        server.tree = server.tree.remove(PRODUCER_IDS)
    encoder = PasswordEncoder(secret=secret) if secret else None
    return await ZooKeeperReader(server.open_session(), encoder=encoder).read()


def findings(tree: JudgedTree, secret: str | None = None) -> set[str]:
    """Return the findings of kwire."""
    reading = asyncio.run(read(tree, secret))
    side = zookeeper(broker_ids=(1,))
    told = preflight_findings(side, reading, with_secret=secret is not None)
    return {finding.id for finding in told}


def outcome(judge: MigrationJudge) -> Outcome:
    """Return what becomes of the migration with Kafka's classes.

    In WAIT_FOR_BROKERS an error is logged, and the driver tries again; in the copy it ends the
    controller (KRaftMigrationDriver.WaitForZkBrokersEvent, MigrateMetadataEvent).
    """
    if judge.read_assignments().errors:
        return "waits"
    return "ends" if judge.copy().errors else "copied"


@pytest.mark.parametrize(
    ("tree", "by_kafka", "finding"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_a_finding_is_what_kafka_stops_at(
    judge: MigrationJudge, tree: Tree, by_kafka: Outcome, finding: str
) -> None:
    prepared = judge.prepare([EPOCH, *tree])
    assert prepared.errors == []
    assert outcome(judge) == by_kafka
    assert finding in findings(prepared.tree)


@pytest.mark.parametrize(
    ("tree", "finding"), [case[1:] for case in HARMFUL], ids=[case[0] for case in HARMFUL]
)
def test_kafka_copies_what_does_harm(judge: MigrationJudge, tree: Tree, finding: str) -> None:
    prepared = judge.prepare([EPOCH, *tree])
    assert prepared.errors == []
    assert outcome(judge) == "copied"
    assert finding in findings(prepared.tree)


@pytest.mark.parametrize(
    ("tree", "records"), [case[1:] for case in LOST], ids=[case[0] for case in LOST]
)
def test_kafka_loses_text_that_is_no_json_and_kwire_copies_nothing(
    judge: MigrationJudge, tree: Tree, records: int
) -> None:
    prepared = judge.prepare([EPOCH, *tree])
    assert prepared.errors == []
    copied = judge.copy()
    assert (copied.errors, sum(map(len, copied.batches))) == ([], records)
    assert "before/broken-znode" in findings(prepared.tree)
    with pytest.raises(InvalidZnode):
        metadata_in(memory_tree(prepared.tree))


def test_a_password_is_copied_encrypted_without_a_secret_and_ends_the_copy_with_another(
    judge: MigrationJudge,
) -> None:
    name = "listener.name.sasl.ssl.key.password"
    encoded = b"encryptedPassword:abc"
    tree = [EPOCH, *config("/config/brokers/1", {name: encoded})]
    prepared = judge.prepare(tree)
    [[record]] = judge.copy().records
    assert isinstance(record.record, ConfigRecord)
    assert record.record.value == encoded.decode()
    assert "before/passwords" in findings(prepared.tree)

    assert judge.prepare(tree, "secret").errors == []
    assert outcome(judge) == "ends"
    assert "before/unreadable-password" in findings(prepared.tree, "secret")


def test_a_password_that_is_not_encrypted_ends_the_copy_with_a_secret_only(
    judge: MigrationJudge,
) -> None:
    tree = [EPOCH, *config("/config/brokers/1", {"listener.name.sasl.ssl.key.password": b"abc"})]
    prepared = judge.prepare(tree)
    assert outcome(judge) == "copied"
    assert findings(prepared.tree) == {"before/ok"}

    assert judge.prepare(tree, "secret").errors == []
    assert outcome(judge) == "ends"
    assert "before/unencrypted-password" in findings(prepared.tree, "secret")
