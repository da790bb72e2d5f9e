"""`kwire logdirs`: sizes for people and for scripts, disks that failed, moves that are checked."""

from collections.abc import Iterator
from typing import cast

import pytest

from kwire.cli.admin.logdir_rows import size_text
from kwire.codec.declaration import Response
from kwire.messages import a34_alter_replica_log_dirs as moving
from kwire.messages import a35_describe_log_dirs as dirs
from kwire.net.frames import RequestFrame
from tests.support.admin.scripted_brokers import ScriptedBrokers
from tests.support.cli.command import Command
from tests.support.cli.scripted_cluster import at, scripted_cluster


def directory(path: str, *sizes: int, error_code: int = 0) -> dirs.DescribeLogDirsResult:
    """A directory with the partitions 0, 1 … of orders, of these sizes."""
    partitions = [
        dirs.DescribeLogDirsPartition(partition_index=index, partition_size=size)
        for index, size in enumerate(sizes)
    ]
    return dirs.DescribeLogDirsResult(
        log_dir=path,
        error_code=error_code,
        topics=[dirs.DescribeLogDirsTopic(name="orders", partitions=partitions)] if sizes else [],
        total_bytes=10_000,
        usable_bytes=5_000,
    )


def moved(request: RequestFrame) -> Response:
    """Begin every move."""
    results = [
        moving.AlterReplicaLogDirTopicResult(
            topic_name=topic.name,
            partitions=[
                moving.AlterReplicaLogDirPartitionResult(partition_index=index)
                for index in topic.partitions
            ],
        )
        for wanted in cast(moving.AlterReplicaLogDirsRequest, request.body).dirs
        for topic in wanted.topics
    ]
    return moving.AlterReplicaLogDirsResponse(results=results)


@pytest.fixture
def cluster() -> Iterator[ScriptedBrokers]:
    with scripted_cluster(2) as two:
        answer = dirs.DescribeLogDirsResponse(results=[directory("/a", 1536, 10), directory("/b")])
        for node in two.nodes:
            node.scripts[dirs.DescribeLogDirsRequest] = lambda request: answer
            node.scripts[moving.AlterReplicaLogDirsRequest] = moved
        yield two


def test_sizes_are_read_by_people_in_tables_and_exact_in_json(
    kwire: Command, cluster: ScriptedBrokers
) -> None:
    table = kwire("logdirs", "describe", "--broker", "1", *at(cluster)).out
    assert [line.split() for line in table.splitlines()][1] == [
        *("1", "/a", "2", "1.5", "KiB", "9.8", "KiB", "4.9", "KiB", "no")
    ]
    rows = kwire("logdirs", "describe", "--json", *at(cluster)).json["logDirs"]
    assert [(row["broker"], row["logDir"], row["replicas"], row["size"]) for row in rows] == [
        (0, "/a", 2, 1546),
        (0, "/b", 0, 0),
        (1, "/a", 2, 1546),
        (1, "/b", 0, 0),
    ]


@pytest.mark.parametrize(
    ("by", "name", "expected"),
    [
        ("broker", "brokers", [{"broker": 0, "size": 1546}, {"broker": 1, "size": 1546}]),
        ("topic", "topics", [{"topic": "orders", "replicas": 4, "size": 3092, "brokers": [0, 1]}]),
    ],
)
def test_sizes_add_up_by_broker_and_by_topic(
    kwire: Command, cluster: ScriptedBrokers, by: str, name: str, expected: list[dict[str, object]]
) -> None:
    rows = kwire("logdirs", "describe", "--by", by, "--json", *at(cluster)).json[name]
    assert [
        {key: row[key] for key in wanted} for row, wanted in zip(rows, expected, strict=True)
    ] == (expected)
    nothing = kwire(
        "logdirs", "describe", "--by", "replica", "--topic", "x", "--json", *at(cluster)
    )
    assert nothing.json == {"replicas": []}


def test_what_a_disk_that_failed_holds_is_not_known(
    kwire: Command, cluster: ScriptedBrokers
) -> None:
    answer = dirs.DescribeLogDirsResponse(results=[directory("/a", error_code=56)])
    for node in cluster.nodes:
        node.scripts[dirs.DescribeLogDirsRequest] = lambda request: answer
    run = kwire("logdirs", "describe", "-b", "0", "--broker-list", "7", "--json", *at(cluster))
    failed, missing = run.json["logDirs"]
    assert run.code == 1
    assert (failed["size"], failed["replicas"], failed["error"]) == (
        None,
        None,
        "KAFKA_STORAGE_ERROR",
    )
    assert (missing["broker"], missing["error"]) == (7, "NODE_NOT_FOUND")


def test_a_dry_run_of_a_move_finds_what_the_broker_would_refuse(
    kwire: Command, cluster: ScriptedBrokers
) -> None:
    def move(to: str, *words: str) -> tuple[int, list[str | None]]:
        run = kwire("logdirs", "move", *words, "--to", to, "--json", *at(cluster))
        return run.code, [row["error"] for row in run.json["replicas"]]

    assert move("/b", "orders-0@0", "orders-1@1", "--dry-run") == (0, [None, None])
    assert move("/c", "orders-0@0", "orders-9@0", "--dry-run") == (
        1,
        ["LOG_DIR_NOT_FOUND", "REPLICA_NOT_FOUND"],
    )
    assert not cluster.nodes[0].requests(moving.AlterReplicaLogDirsRequest)
    assert move("/b", "orders-0@0") == (0, [None])
    assert len(cluster.nodes[0].requests(moving.AlterReplicaLogDirsRequest)) == 1


def test_a_replica_shows_where_it_is(kwire: Command, cluster: ScriptedBrokers) -> None:
    run = kwire("logdirs", "replicas", "orders-1@1", "--json", *at(cluster))
    [row] = run.json["replicas"]
    assert (row["replica"], row["currentLogDir"], row["futureLogDir"]) == ("orders-1@1", "/a", None)


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1.0 KiB"),
        (5 * 2**30, "5.0 GiB"),
        (2**63, "8192.0 PiB"),
    ],
)
def test_bytes_are_written_in_the_unit_that_fits(size: int, text: str) -> None:
    assert size_text(size) == text
    assert size_text(None) == "-"


def test_wrong_lists_are_wrong_usage(kwire: Command) -> None:
    for words in (["describe", "--broker-list", "1,x"], ["replicas", "orders-0"]):
        assert kwire("logdirs", *words, "--bootstrap-server", "localhost:1").code == 2
