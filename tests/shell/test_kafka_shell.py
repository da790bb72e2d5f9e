"""The same tree from a running node of Kafka, from its checkpoint, and in Kafka's own shell."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from kwire.logdir.names import snapshot_id
from kwire.net.address import Address
from kwire.shell import DirectorySource, SingleFileSource
from kwire.shell.live import LiveSource
from kwire.shell.position import ImageSource, OffsetNotAvailable
from real_kafka import Cluster, Layout
from tests.support.eventually import eventually_blocking
from tests.support.real_kafka.own_cluster import OwnCluster
from tests.support.real_kafka.topics import create
from tests.support.shell.kafka_shell import kafkas_tree
from tests.support.shell.sessions import Session

SNAPSHOTS = {"metadata.log.max.snapshot.interval.ms": "1000"}
PROVENANCE = "provenance:"


def without_place(lines: list[str]) -> list[str]:
    """Return a tree without the line below `provenance`: Kafka's shell counts in the file."""
    at = next(number for number, line in enumerate(lines) if line.strip() == PROVENANCE)
    return lines[: at + 1] + lines[at + 2 :]


def configure(cluster: Cluster, kind: str, name: str, *configs: str) -> None:
    for config in configs:
        run = cluster.tool(
            "kafka.admin.ConfigCommand",
            *("--bootstrap-server", cluster.bootstrap_servers, "--alter"),
            *("--entity-type", kind, "--entity-name", name, "--add-config", config),
        )
        assert run.returncode == 0, run.stderr


def latest_checkpoint(folder: Path) -> Path:
    return max(folder.glob("*.checkpoint"), key=lambda path: path.name)


def end_of(checkpoint: Path) -> int:
    id = snapshot_id(checkpoint.name)
    assert id is not None
    return id.offset


def tree(source: ImageSource) -> list[str]:
    return Session(source)("tree /image")


def test_live_checkpoint_and_kafkas_shell_show_the_same(
    own_cluster: OwnCluster, tmp_path: Path
) -> None:
    cluster = own_cluster(Layout(controllers=(1,), brokers=(1,), properties=SNAPSHOTS))
    if cluster.launcher != "local":
        pytest.skip("the node's folder is not on this machine")
    cluster.start()
    node = cluster.nodes[1]
    folder = Path(node.folder, "data", "__cluster_metadata-0")
    address = Address(node.controller_address.host, node.controller_address.port)
    with LiveSource([address]) as live:
        start = live.latest()
        create(cluster.bootstrap_servers, "orders")
        configure(cluster, "topics", "orders", "retention.ms=100000")
        scram = "SCRAM-SHA-256=[iterations=4096,password=secret]"
        configure(cluster, "users", "alice", scram, "producer_byte_rate=1024")
        # The image follows while nobody asks for it.
        session = Session(live)
        names = "cat /image/clientQuotas/user(alice)/producer_byte_rate"
        eventually_blocking(lambda: session(names) == ["1024.0"])
        changed = live.latest().offset
        assert changed is not None
        eventually_blocking(lambda: end_of(latest_checkpoint(folder)) > changed)

        checkpoint = tmp_path / "copies" / latest_checkpoint(folder).name
        checkpoint.parent.mkdir()
        shutil.copyfile(folder / checkpoint.name, checkpoint)
        offset = end_of(checkpoint) - 1
        with SingleFileSource(checkpoint) as file, DirectorySource(folder) as directory:
            expected = tree(file)
            for source in (live, directory):
                session = Session(source)
                session(f"at {offset}")
                assert session("tree /image") == expected
                # A checkpoint keeps no leaders.
                shown = replace(source.at(offset), raft=file.latest().raft)
                assert shown == file.latest()
        # The leader has newer snapshots now; the log since the start of the session is still read.
        assert start.offset is not None
        assert live.at(start.offset) == start
        assert "orders" not in start.image.topics.ids
        with pytest.raises(OffsetNotAvailable, match=r"it has offsets \d+ to \d+"):
            live.at(1_000_000)
    # Kafka's tool answers before it has loaded everything, at times.
    eventually_blocking(
        lambda: without_place(kafkas_tree(checkpoint)),
        lambda lines: lines == without_place(expected),
    )
