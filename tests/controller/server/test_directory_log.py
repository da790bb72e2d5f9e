"""A node's metadata directory as the raft core sees it."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from kwire.controller.server.directory_log import DirectoryLog
from kwire.errors import InvalidValue
from kwire.logdir.format import FormatOptions, plan, write
from kwire.logdir.log import MetadataLog
from kwire.logdir.meta_properties import read_meta_properties
from kwire.logdir.server_properties import StorageProperties


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
