"""Random metadata: Kafka 3.9's migration classes and kwire leave the same in ZooKeeper and the log.

Both begin with the same znodes. Java writes to a real ZooKeeper; kwire's writes are carried out on
one in memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from random import Random
from uuid import UUID, uuid4

import pytest

from kwire.batches.metadata_records import VersionedRecord
from kwire.image import MetadataImage
from kwire.image.changes import MetadataChanges
from kwire.messages.records.access_control_entry import AccessControlEntryRecord
from kwire.migration.driver.copy import copied_broker_ids, copied_groups
from kwire.migration.driver.dual_write import dual_write
from kwire.migration.driver.synchronisation import synchronise
from kwire.migration.driver.znode_write import ZnodeWrite
from kwire.migration.driver.znode_writes.passwords import PasswordWriter
from kwire.zookeeper.errors import InvalidZnode
from kwire.zookeeper.password_encoder import PasswordEncoder
from kwire.zookeeper.znodes import ConfigZnode
from migrating.migration_judge import (
    RAFT_EPOCH,
    JudgedTree,
    JudgeReport,
    MigrationJudge,
    PreparedZnode,
)
from tests.support.migration.driver.random_metadata import TOPICS, RandomMetadata
from tests.support.migration.driver.znode_trees import (
    CHANGES as NOTIFICATIONS,
)
from tests.support.migration.driver.znode_trees import (
    carried_out,
    comparable,
    memory_tree,
    metadata_in,
)
from tests.support.seed import SEED

pytestmark = [pytest.mark.java, pytest.mark.xdist_group("migration-judge")]

SHORT, LONG = 2, 20
SEEDS = [
    *range(SEED, SEED + SHORT),
    *(pytest.param(seed, marks=pytest.mark.nightly) for seed in range(SEED + SHORT, SEED + LONG)),
]

ENCODER = PasswordEncoder(secret="secret")
PASSWORDS = PasswordWriter(ENCODER, Random(1).randbytes)

ACL_TYPES = ("Topic", "Group", "Cluster", "TransactionalId", "DelegationToken", "User")
FOLDERS = (
    "/kafka-acl",
    *(f"/kafka-acl/{type}" for type in ACL_TYPES),
    "/kafka-acl-changes",
    "/kafka-acl-extended",
    "/kafka-acl-extended/prefixed",
    *(f"/kafka-acl-extended/prefixed/{type}" for type in ACL_TYPES),
    "/kafka-acl-extended-changes",
    "/delegation_token",
    "/delegation_token/tokens",
)
"""Made by brokers with an authorizer, and with delegation tokens."""

EMPTY_CLUSTER: list[PreparedZnode] = [
    ("/controller_epoch", b"3", 1),
    *((path, None, 0) for path in FOLDERS),
]


def dual_writes(before: MetadataImage, after: MetadataImage) -> list[ZnodeWrite]:
    return dual_write(MetadataChanges.between(before, after), RAFT_EPOCH, PASSWORDS)


def described(operations: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return types and descriptions in order of the alphabet.

    Java deletes the configuration of every topic that is deleted, also of those that have none.
    """
    return sorted(item for item in operations if item[0] != "DeleteConfig")


def filled(judge: MigrationJudge, seed: int) -> tuple[RandomMetadata, JudgeReport]:
    """Return random metadata, and ZooKeeper after Java wrote it there."""
    judge.prepare(EMPTY_CLUSTER, "secret")
    metadata = RandomMetadata(seed)
    for _ in range(10):
        metadata.records(12)
    return metadata, judge.snapshot(list(metadata.image.records()))


@pytest.mark.parametrize("seed", SEEDS)
def test_changes_leave_the_same_znodes_in_dual_write(judge: MigrationJudge, seed: int) -> None:
    metadata, start = filled(judge, seed)
    assert start.errors == []
    tree, image = memory_tree(start.tree), metadata.image
    for _ in range(4):
        before, records = image, list(image.records())
        changes = metadata.records(8)
        image = metadata.image

        by_java = judge.delta(records, changes)
        writes = dual_writes(before, image)
        tree = carried_out(tree, writes)

        assert by_java.errors == []
        by_kwire = ((write.type, write.description) for write in writes)
        assert described(by_kwire) == described(by_java.operations)
        assert comparable(tree, ENCODER) == comparable(memory_tree(by_java.tree), ENCODER)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_synchronisation_leaves_the_same_znodes(judge: MigrationJudge, seed: int) -> None:
    metadata, start = filled(judge, seed)
    tree = memory_tree(start.tree)
    metadata.for_synchronisation = True
    metadata.records(25)

    by_java = judge.snapshot(list(metadata.image.records()))
    writes = synchronise(metadata_in(tree), metadata.image, RAFT_EPOCH, PASSWORDS)
    tree = carried_out(tree, writes)

    assert by_java.errors == []
    by_kwire = [(write.type, write.description) for write in writes]
    assert sorted(by_kwire) == sorted(by_java.operations)
    assert comparable(tree, ENCODER) == comparable(memory_tree(by_java.tree), ENCODER)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_copy_has_the_same_records(judge: MigrationJudge, seed: int) -> None:
    _, start = filled(judge, seed)
    start = judge.prepare(damaged(start.tree, Random(seed)), "secret")
    assert start.errors == []

    by_java = judge.copy()
    zookeeper = metadata_in(memory_tree(start.tree))
    groups = filter(None, copied_groups(zookeeper, passwords=ENCODER, new_id=uuid4))

    assert by_java.errors == []
    assert sorted(map(texts, groups)) == sorted(map(texts, filter(None, by_java.records)))
    assert copied_broker_ids(zookeeper) == set(by_java.brokers)


def test_a_credential_of_a_users_client_is_copied_by_neither(judge: MigrationJudge) -> None:
    config = {"SCRAM-SHA-256": "salt=MQ==,stored_key=Mg==,server_key=Mw==,iterations=4096"}
    path = "/config/users/u/clients/c"
    folders = ("/config/users/u", "/config/users/u/clients")
    pair = (path, ConfigZnode(config).encode(), 0)
    folder_znodes = ((folder, None, 0) for folder in folders)
    start = judge.prepare([("/controller_epoch", b"3", 0), *folder_znodes, pair], "secret")
    assert start.errors == []

    assert "Unexpected client quota configuration value" in judge.copy().errors[0]
    zookeeper = metadata_in(memory_tree(start.tree))
    with pytest.raises(InvalidZnode, match=path):
        list(copied_groups(zookeeper, passwords=ENCODER, new_id=uuid4))


def damaged(tree: JudgedTree, random: Random) -> Iterator[PreparedZnode]:
    """Yield the znodes as they may be found: states missing, znodes empty, deletions pending."""
    for path in sorted(tree.keys() - {"", "/migration", "/controller"}):
        znode = tree[path]
        is_lost = path.endswith("/state") and random.random() < 0.2
        is_emptied = path.startswith(("/config/", "/kafka-acl")) and random.random() < 0.1
        if not is_lost and not path.startswith(NOTIFICATIONS):
            yield path, None if is_emptied else znode.data, znode.version
    for name in random.sample(TOPICS, 2):
        yield f"/admin/delete_topics/{name}", None, 0


def texts(records: Sequence[VersionedRecord]) -> list[bytes]:
    """Return the records as in the log, in any order, and without the random ids of ACLs."""
    return sorted(map(without_id, records))


def without_id(versioned: VersionedRecord) -> bytes:
    if isinstance(versioned.record, AccessControlEntryRecord):
        versioned.record.id = UUID(int=0)
    return versioned.encode()
