"""The recorded migration by Kafka 3.9.1: its znodes, and its metadata log."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rpds import HashTrieSet

from kwire.batches import RecordBatch
from kwire.batches.metadata_records import read_metadata_record
from kwire.image import EMPTY, MetadataImage, apply_all
from kwire.logdir.filesystem import DISK
from kwire.logdir.segment import batches_in
from migrating.memory_zookeeper import MemoryZooKeeper
from migrating.memory_zookeeper.tree import MemoryZnode
from migrating.real_clusters.znode_dump import read_dump
from tests.support.paths import ROOT

FOLDER = ROOT / "fixtures" / "migrating" / "recordings" / "kafka-3.9.1"
ENCODER_SECRET = "a-secret-of-the-tests"
SEGMENT = FOLDER / "__cluster_metadata-0" / "00000000000000000000.log"


def golden_zookeeper(stage: str) -> MemoryZooKeeper:
    """Return a ZooKeeper with the znodes of a stage: `before`, `dual-write`, and so on."""
    server = MemoryZooKeeper()
    dump = read_dump(FOLDER / f"znodes-{stage}.jsonl")
    children: dict[str, list[str]] = {}
    for znode in dump:
        if znode.path != "/":
            parent, _, name = znode.path.rpartition("/")
            children.setdefault(parent or "/", []).append(name)
    for znode in dump:
        server.tree = server.tree.insert(
            znode.path,
            MemoryZnode(
                data=znode.data,
                version=znode.version,
                ephemeral_owner=znode.ephemeral_owner,
                children_created=len(children.get(znode.path, ())),
                children=HashTrieSet(children.get(znode.path, ())),
            ),
        )
    return server


def golden_images() -> Iterator[tuple[int, MetadataImage]]:
    """Yield the last offset of each batch of the log, and the image after it."""
    image = EMPTY
    path = Path(SEGMENT)
    file = DISK.open(path)
    for _, batch in batches_in(file, path):
        assert isinstance(batch, RecordBatch)
        if not batch.is_control:
            values = (record.value or b"" for record in batch.records())
            image = apply_all(image, map(read_metadata_record, values))
        yield batch.last_offset, image.published
    file.close()


def golden_image(offset: int) -> MetadataImage:
    """Return the image with all records up to an offset."""
    return [image for last, image in golden_images() if last <= offset][-1]
