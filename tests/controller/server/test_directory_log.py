"""A node's metadata directory as the raft core sees it."""

import os
import random
import re
import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from unittest.mock import Mock
from uuid import UUID

import pytest

from kwire.batches import Record, build_batch
from kwire.batches.metadata_records import VersionedRecord
from kwire.controller.raft import (
    AppendLog,
    ElectionState,
    InstallSnapshot,
    OffsetAndEpoch,
    PersistElection,
    ReplicaKey,
    TruncateLog,
    WriteSnapshot,
)
from kwire.controller.server.directory_log import DirectoryLog
from kwire.controller.server.environment import Environment
from kwire.controller.server.metadata.replay import Replay
from kwire.controller.server.node import check_voter
from kwire.errors import FileError, InvalidValue, StorageFailed
from kwire.logdir.format import FormatOptions, plan, write
from kwire.logdir.inspect import inspect
from kwire.logdir.log import MetadataLog
from kwire.logdir.meta_properties import read_meta_properties
from kwire.logdir.server_properties import StorageProperties
from kwire.logdir.snapshots import build_snapshot
from kwire.messages.records.remove_topic import RemoveTopicRecord
from memory_files import MemoryFileSystem
from tests.support.controller.raft.single_replica import SingleReplica
from tests.support.controller.raft.virtual_network import key, voter_set
from tests.support.logdir.batches import NO_OP, batch
from tests.support.seed import SEED


def test_an_opened_log_is_flushed_before_anything_in_it_is_acknowledged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = StorageProperties(
        node_id=1,
        roles=frozenset({"controller"}),
        log_dirs=(tmp_path,),
        metadata_log_dir=tmp_path,
        static_voters=False,
        controller_listener="CONTROLLER",
        controller_endpoint=("localhost", 9093),
    )
    options = FormatOptions(cluster_id="kwire-test-cluster-id0", standalone=True)
    write(plan(storage, options), datetime.now(UTC))
    flushed: list[MetadataLog] = []
    monkeypatch.setattr(MetadataLog, "flush", lambda log: flushed.append(log))
    log = DirectoryLog(storage)
    assert len(flushed) == 1
    log.close()


def formatted(folder: Path, meta: str) -> StorageProperties:
    """A directory with a meta.properties as older Kafka wrote it."""
    storage = StorageProperties(
        node_id=1,
        roles=frozenset({"controller"}),
        log_dirs=(folder / "a", folder / "b"),
        metadata_log_dir=folder / "a",
        static_voters=True,
        controller_listener="CONTROLLER",
        controller_endpoint=("localhost", 9093),
    )
    write(plan(storage, FormatOptions(cluster_id="kwire-test-cluster-id0")), datetime.now(UTC))
    for directory in storage.directories:
        (directory / "meta.properties").write_text(meta)
    return storage


@pytest.mark.parametrize(
    "meta",
    [
        "version=1\ncluster.id=kwire-test-cluster-id0\nnode.id=1\n",
        "version=0\ncluster.id=kwire-test-cluster-id0\nbroker.id=1\n",
        "cluster.id=kwire-test-cluster-id0\nbroker.id=1\n",
    ],
    ids=["before 3.7", "of ZooKeeper's time", "without a version"],
)
def test_directories_without_an_id_get_one_for_ever(tmp_path: Path, meta: str) -> None:
    """KafkaRaftServer.initializeLogDirs does the same (KIP-853, KIP-858)."""
    storage = formatted(tmp_path, meta)

    first = DirectoryLog(storage)
    first.close()
    again = DirectoryLog(storage)
    again.close()

    ids = [read_meta_properties(directory) for directory in storage.directories]
    assert all(
        properties and properties.directory_id and properties.node_id == 1 for properties in ids
    )
    assert len({properties.directory_id for properties in ids if properties}) == 2
    assert ids[0]
    assert first.directory_id == again.directory_id == ids[0].directory_id


def test_a_directory_without_a_node_or_a_cluster_is_not_formatted(tmp_path: Path) -> None:
    for meta in ("version=0\nbroker.id=1\n", "version=0\ncluster.id=a\n", ""):
        storage = formatted(tmp_path / str(len(meta)), meta)
        with pytest.raises(InvalidValue, match="is not formatted"):
            DirectoryLog(storage)


CLUSTER = "kwire-test-cluster-id0"


def storage_of(folder: Path, *names: str) -> StorageProperties:
    return StorageProperties(
        node_id=1,
        roles=frozenset({"controller"}),
        log_dirs=tuple(folder / name for name in names),
        metadata_log_dir=folder / names[0],
        static_voters=False,
        controller_listener="CONTROLLER",
        controller_endpoint=("localhost", 9093),
    )


def standalone(folder: Path, *names: str) -> StorageProperties:
    """Formatted directories of the only voter, whose log has records of one epoch."""
    storage = storage_of(folder, *names)
    write(plan(storage, FormatOptions(cluster_id=CLUSTER, standalone=True)), datetime.now(UTC))
    log = DirectoryLog(storage)
    log.persist(vote(1, log))
    log.append(AppendLog(data=batch(0), end_offset=1))
    log.close()
    return storage


def vote(epoch: int, log: DirectoryLog) -> PersistElection:
    key = ReplicaKey(id=1, directory_id=log.directory_id)
    state = ElectionState(epoch=epoch, leader_id=1, voted_key=key)
    return PersistElection(data=state.to_data(1, ()), version=1)


LOG = "__cluster_metadata-0"
OTHER = "JEXY6aqzQY-32P5TStzaFg"


def edit(old: str, new: str) -> Callable[[Path], None]:
    """Change the line of meta.properties that begins with `old`."""

    def edited(folder: Path) -> None:
        file = folder / "meta.properties"
        lines = file.read_text().splitlines()
        file.write_text("\n".join(new if line.startswith(old) else line for line in lines))

    return edited


def another_than_its_vote(folder: Path) -> None:
    edit("directory.id", f"directory.id={OTHER}")(folder)
    (checkpoint,) = folder.glob("*/*-0000000000.checkpoint")
    checkpoint.unlink()


def copied(folder: Path) -> None:
    (folder / "meta.properties").write_bytes((folder.parent / "a/meta.properties").read_bytes())


def emptied(folder: Path) -> None:
    """Leave what formatting had written."""
    for file in folder.glob("__cluster_metadata-0/*"):
        if not file.name.endswith("-0000000000.checkpoint"):
            file.unlink()


CONTRADICTIONS: list[tuple[str, str, Callable[[Path], object], str]] = [
    # directory; what is done to it; what is said
    (
        "a copied disk",
        "b",
        copied,
        "b/meta.properties, byte 0: directory.id .* is that of .*a, too",
    ),
    ("not formatted", "b", lambda f: (f / "meta.properties").unlink(), "b is not formatted"),
    (
        "no meta.properties where there is a log",
        "a",
        lambda f: (f / "meta.properties").unlink(),
        "a/meta.properties, byte 0: is not there, but __cluster_metadata-0 is there: restore",
    ),
    (
        "an empty meta.properties where there is a log",
        "a",
        lambda f: (f / "meta.properties").write_bytes(b""),
        "a/meta.properties, byte 0: has no cluster.id or no node id, but .* is there: restore",
    ),
    (
        "a binary meta.properties where there is a log",
        "a",
        lambda f: (f / "meta.properties").write_bytes(bytes(range(256))),
        "a/meta.properties, byte 0: has no cluster.id or no node id, but .* is there: restore",
    ),
    (
        "a node id of 64 bits where there is a log",
        "a",
        edit("node.id", "node.id=4294967297"),
        "a/meta.properties, byte 0: node.id is '4294967297', not .* is there: restore the file",
    ),
    (
        "a file in place of the log's folder",
        "a",
        lambda f: (f / LOG).rename(f / "log") and (f / LOG).write_bytes(b""),
        "a/__cluster_metadata-0, byte 0: is no folder",
    ),
    (
        "no folder of the log where a node ran",
        "a",
        lambda f: shutil.rmtree(f / "__cluster_metadata-0"),
        r"a/\.lock, byte 0: a node ran here, but no log is in __cluster_metadata-0",
    ),
    (
        "an empty folder of the log where a node ran",
        "a",
        emptied,
        r"a/\.lock, byte 0: a node ran here, but no log is in __cluster_metadata-0",
    ),
    ("another node", "b", edit("node.id", "node.id=2"), "b belongs to node 2, not 1: set node.id"),
    (
        "another cluster",
        "b",
        edit("cluster.id", "cluster.id=x"),
        "b/meta.*, byte 0: is of cluster x",
    ),
    (
        "an id of Kafka's",
        "b",
        edit("directory.id", "directory.id=AAAAAAAAAAAAAAAAAAAAAQ"),
        "AAAAAAAAAAAAAAAAAAAAAQ is one of those that Kafka keeps for itself",
    ),
    (
        "a second metadata log",
        "b",
        lambda f: (f / "__cluster_metadata-0").mkdir(),
        "b/__cluster_metadata-0, byte 0: a metadata log is here, but metadata.log.dir is .*a",
    ),
    (
        "another replica than the first voters name",
        "a",
        edit("directory.id", f"directory.id={OTHER}"),
        f"a/meta.properties, byte 0: directory.id is {OTHER}, but .*checkpoint has node 1 with",
    ),
    (
        "no replica where the first voters name one",
        "a",
        edit("directory.id", ""),
        "a/meta.properties, byte 0: directory.id is None, but .*checkpoint has node 1 with",
    ),
    (
        "another replica than its vote names",
        "a",
        another_than_its_vote,
        f"directory.id is {OTHER}, but __cluster_metadata-0/quorum-state has node 1 with",
    ),
]


@pytest.mark.parametrize(
    ("directory", "change", "reason"),
    [row[1:] for row in CONTRADICTIONS],
    ids=[row[0] for row in CONTRADICTIONS],
)
def test_directories_that_do_not_belong_together_are_refused(
    tmp_path: Path, directory: str, change: Callable[[Path], object], reason: str
) -> None:
    """MetaPropertiesEnsemble.verify and KafkaRaftServer.initializeLogDirs refuse all but the last
    three, with which Kafka begins a new replica."""
    storage = standalone(tmp_path, "a", "b")
    assert inspect(storage.directories).problems == ()
    change(tmp_path / directory)
    with pytest.raises((FileError, InvalidValue), match=reason):
        DirectoryLog(storage)
    assert inspect(storage.directories).problems


FILES = (
    ["meta.properties", "bootstrap.checkpoint", ".lock"]
    + [f"{LOG}/{name}" for name in ("quorum-state", "leader-epoch-checkpoint")]
    + [f"{LOG}/{'0' * 20}{suffix}" for suffix in (".log", ".index", "-0000000000.checkpoint")]
    + [f"{LOG}/partition.metadata", f"{LOG}/{'0' * 20}.log.deleted"]
)


def link_to_itself(path: Path) -> None:
    path.symlink_to(path)


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, link_to_itself])
@pytest.mark.parametrize("name", FILES)
def test_what_is_no_file_is_named_and_not_waited_for(
    tmp_path: Path, name: str, make: Callable[[Path], None]
) -> None:
    storage = standalone(tmp_path, "a")
    path = tmp_path / "a" / name
    path.unlink(missing_ok=True)
    make(path)
    with pytest.raises(FileError, match="a link to nothing where a file should be") as error:
        DirectoryLog(storage)
    assert error.value.file == path
    assert any(str(path) in problem for problem in inspect(storage.directories).problems)


@pytest.mark.parametrize("left", [None, b""])
def test_nothing_is_formatted_over_a_log(tmp_path: Path, left: bytes | None) -> None:
    """Kafka's tool gives the log another directory id."""
    storage = standalone(tmp_path, "a")
    file = tmp_path / "a/meta.properties"
    file.unlink()
    if left is not None:
        file.write_bytes(left)
    with pytest.raises(FileError, match="but __cluster_metadata-0 is there: restore the file"):
        plan(storage, FormatOptions(cluster_id=CLUSTER, standalone=True))


def test_a_directory_without_records_and_bootstrap_records_is_refused(tmp_path: Path) -> None:
    storage = storage_of(tmp_path, "a")
    write(plan(storage, FormatOptions(cluster_id=CLUSTER, no_initial_controllers=True)), NOW)
    (tmp_path / "a/bootstrap.checkpoint").unlink()
    with pytest.raises(FileError, match=r"bootstrap\.checkpoint, byte 0: is not there, nor any"):
        DirectoryLog(storage)


NOW = datetime(2026, 11, 27, tzinfo=UTC)


def test_a_record_that_does_not_fit_is_told_with_its_file_and_place(tmp_path: Path) -> None:
    """Of the log by its offset, of a snapshot by its number; the byte is that of its batch."""
    removed = VersionedRecord(record=RemoveTopicRecord(topic_id=UUID(int=7)), version=0)
    fits = [NO_OP] * 1500
    storage = standalone(tmp_path, "a")
    log = DirectoryLog(storage)
    data = build_batch(
        [Record(value=record.encode()) for record in (NO_OP, removed)],
        base_offset=1,
        partition_leader_epoch=1,
    )
    log.append(AppendLog(data=data, end_offset=3))
    replay = Replay(log)
    with pytest.raises(FileError, match=r"0\.log, byte \d+: the record at offset 2: ") as error:
        replay.apply_slice()
    assert error.value.offset == len(batch(0))

    id = OffsetAndEpoch(offset=3, epoch=1)
    batches = list(build_snapshot([*fits, removed], epoch=1, now=1))
    log.store_snapshot(id, batches)
    log.add_snapshot(id)
    replay = Replay(log)
    with pytest.raises(FileError, match=r"1\.checkpoint, byte \d+: record 1501: ") as error:
        list(iter(replay.apply_slice, False))
    assert error.value.offset == len(batches[0]) + len(batches[1])
    log.close()


def test_a_directory_that_no_voter_has_is_told(caplog: pytest.LogCaptureFixture) -> None:
    """As after a disk was replaced; as the only voter's it can never vote."""
    config = Mock(node_id=1, storage=Mock(metadata_log_dir=Path("/d")))
    other = key(1, disk=1).wire_directory_id
    check_voter(config, SingleReplica().raft)
    assert not caplog.records
    check_voter(config, SingleReplica(directory_id=other).raft)
    assert re.search(r"/d: directory.id is .*, but the voters have node 1-.*not vote", caplog.text)
    with pytest.raises(InvalidValue, match=r"have node 1-.* and nobody else: write the directory"):
        check_voter(config, SingleReplica(directory_id=other, voters=voter_set(1)).raft)


FIRST_START = 12
"""Operations of a node's first start, after each of which the next one is tried."""


class Ended(OSError):
    """The end of a run."""


def run(storage: StorageProperties, fs: MemoryFileSystem) -> None:
    """Do everything that changes a directory, in the orders of a replica."""
    log = opened(storage, fs)
    for epoch in (1, 2):
        log.persist(vote(epoch, log))
        end = log.end.offset
        for offset in range(end, end + 8):
            log.append(later(offset, epoch))
        log.flush()
    log.persist(vote(5, log))
    # A follower that is behind gets records of several epochs at once.
    several = [later(offset, epoch).data for offset, epoch in ((16, 3), (17, 3), (18, 4), (19, 4))]
    log.append(AppendLog(data=b"".join(several), end_offset=20))
    log.flush()
    own = OffsetAndEpoch(offset=10, epoch=2)
    log.store_snapshot(own, build_snapshot([NO_OP], epoch=2, now=1))
    log.add_snapshot(own)
    log.clean(1)
    log.close()

    log = opened(storage, fs)
    for offset in (18, 14):  # of which the last epochs, and a segment, go
        log.truncate(TruncateLog(offset=offset))
        log.append(later(log.end.offset, 5))
    log.flush()
    log.persist(vote(7, log))
    for id in (OffsetAndEpoch(offset=12, epoch=6), OffsetAndEpoch(offset=40, epoch=7)):
        data = b"".join(build_snapshot([NO_OP], epoch=id.epoch, now=1))
        log.write_snapshot(WriteSnapshot(id=id, position=0, data=data))
        log.finish_snapshot(InstallSnapshot(id=id))
        log.install_snapshot(InstallSnapshot(id=id))
        log.append(later(id.offset, 7))
        log.flush()
    log.clean(1)
    log.close()


def later(offset: int, epoch: int) -> AppendLog:
    """Return a batch whose time is later than those before it: indexes by time name its offset."""
    data = batch(offset, epoch=epoch, timestamp=1000 + offset)
    return AppendLog(data=data, end_offset=offset + 1)


def opened(storage: StorageProperties, fs: MemoryFileSystem) -> DirectoryLog:
    return DirectoryLog(storage, segment_bytes=400, environment=Environment(filesystem=fs))


def killed(fs: MemoryFileSystem) -> None:
    """Leave what a process leaves that was killed: everything that it had written."""
    for folder in (Path("/d/a"), Path("/d/a/__cluster_metadata-0")):
        for name in fs.names(folder):
            if not fs.is_folder(folder / name):
                fs.open(folder / name).flush()
        fs.flush_folder(folder)
    fs.crash()


def torn(fs: MemoryFileSystem) -> None:
    draw = random.Random(SEED)
    fs.crash(lambda path, data: data[: draw.randrange(len(data) + 1)])


@pytest.mark.parametrize("crash", [MemoryFileSystem.crash, torn, killed])
@pytest.mark.parametrize("step", [10, pytest.param(1, marks=pytest.mark.nightly)])
def test_a_crash_at_any_operation_never_looks_like_a_loss(
    crash: Callable[[MemoryFileSystem], None], step: int
) -> None:
    storage = storage_of(Path("/d"), "a")
    crashes, finished = 0, False
    while not finished:
        left = [crashes]

        def fault(operation: str, path: Path, left: list[int] = left) -> None:
            if not left[0]:
                raise Ended(f"{operation} {path}")
            left[0] -= 1

        fs = MemoryFileSystem()
        write(plan(storage, FormatOptions(cluster_id=CLUSTER, standalone=True), fs=fs), NOW, fs)
        fs.fault = fault
        try:
            run(storage, fs)
            finished = True
        except (Ended, StorageFailed):
            crashes += step if crashes >= FIRST_START else 1
        fs.fault = None
        crash(fs)
        assert inspect(storage.directories, fs).problems == ()
        opened(storage, fs).close()
    assert crashes > 200
