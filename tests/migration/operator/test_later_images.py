"""Dual write that is behind is no problem, whatever part of it ZooKeeper has (KIP-866)."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from random import Random

import pytest

from kwire.doctor.finding import FindingVerdict
from kwire.image import MetadataImage
from kwire.migration.driver.synchronisation import synchronise
from kwire.migration.driver.znode_write import ZnodeWrite
from kwire.migration.driver.znode_writes.passwords import PasswordWriter
from kwire.migration.operator.later_images import PastImage
from kwire.migration.operator.report import comparison_findings
from kwire.migration.operator.verify import SideComparer, SideComparison
from kwire.migration.operator.zookeeper_reading import ZooKeeperReader
from kwire.zookeeper import Create
from kwire.zookeeper.password_encoder import PasswordEncoder
from kwire.zookeeper.znodes import MigrationZnode
from migrating.memory_zookeeper import MemoryZooKeeper, ZnodeTree
from tests.support.migration.driver.random_metadata import RandomMetadata
from tests.support.migration.driver.znode_trees import carried_out, metadata_in
from tests.support.seed import SEED

SECRET = PasswordEncoder(secret="secret")
PASSWORDS = PasswordWriter(SECRET, bytes)
FOLDERS = ("/brokers", "/brokers/topics", "/config", "/config/topics", "/config/changes")
FIRST = 100
"""The offset of /migration."""


class Log:
    """Images at FIRST, FIRST + 1, …; is_cut: the log begins after FIRST."""

    def __init__(self, images: list[MetadataImage], *, is_cut: bool) -> None:
        self.images = list(enumerate(images, FIRST))[is_cut:]
        self.is_cut = is_cut

    @property
    def image(self) -> MetadataImage:
        return self.images[-1][1]

    def at(self, offset: int) -> MetadataImage | None:
        assert offset == FIRST
        return None if self.is_cut else self.images[0][1]

    def since(self, offset: int) -> list[PastImage]:
        assert offset == FIRST
        return self.images

    async def until(self, offset: int) -> bool:
        return True


def random_log(random: Random) -> list[MetadataImage]:
    metadata = RandomMetadata(random.getrandbits(32))
    metadata.for_synchronisation = True
    metadata.records(80)
    images = [metadata.image]
    for _ in range(random.choice((1, 5, 80))):
        metadata.records(random.choice((1, 1, 6)))
        images.append(metadata.image)
    return images


def written(
    random: Random, tree: ZnodeTree, image: MetadataImage, *, is_whole: bool = True
) -> ZnodeTree:
    """Return what a synchronisation makes of ZooKeeper, or a part of it, as it was interrupted."""
    writes = synchronise(metadata_in(tree), image, 7, PASSWORDS)
    return carried_out(tree, writes if is_whole else writes[: random.randint(0, len(writes))])


def between(random: Random, images: list[MetadataImage]) -> ZnodeTree:
    """Return a ZooKeeper somewhere between the images, with any versions of znodes."""
    tree = written(random, carried_out(MemoryZooKeeper().tree, [made(*FOLDERS)]), images[0])
    for index in sorted(random.sample(range(len(images)), min(2, len(images)))):
        tree = written(random, tree, images[index], is_whole=random.random() < 0.5)
    for path, znode in tree.items():
        if path.endswith("/state"):
            tree = tree.insert(path, replace(znode, version=random.randint(0, 90)))
    position = MigrationZnode(kraft_metadata_offset=FIRST, kraft_metadata_epoch=1)
    return carried_out(tree, [made(position.path, data=position.encode())])


def made(*paths: str, data: bytes = b"") -> ZnodeWrite:
    operations = tuple(Create(path, data) for path in paths)
    return ZnodeWrite(type="", description="", operations=operations)


async def compare(tree: ZnodeTree, log: Log) -> SideComparison:
    server = MemoryZooKeeper()
    server.tree = tree
    session = server.open_session()

    async def pause() -> None:
        """Let nothing move: the controller is stopped."""

    reader = ZooKeeperReader(session, encoder=SECRET)
    return await SideComparer(session, reader, log, pause=pause).compare()


@pytest.mark.parametrize("is_cut", [False, True])
@pytest.mark.parametrize("seed", range(SEED, SEED + 10))
def test_dual_write_that_is_behind_has_no_problem(seed: int, is_cut: bool) -> None:
    random = Random(seed)
    images = random_log(random)
    comparison = asyncio.run(compare(between(random, images), Log(images, is_cut=is_cut)))
    findings = comparison_findings(comparison)
    assert [item for item in findings if item.verdict is FindingVerdict.PROBLEM] == []
