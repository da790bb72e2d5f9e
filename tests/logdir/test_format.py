"""Formatting against Kafka's own StorageTool: the same files, the same refusals."""

import os
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from uuid import UUID

import pytest

import real_kafka
from kwire.errors import FileError, InvalidValue
from kwire.logdir.bootstrap import read_bootstrap
from kwire.logdir.features import parse_feature
from kwire.logdir.format import DirectoryKind, FormatOptions, plan, write
from kwire.logdir.inspect import inspect
from kwire.logdir.meta_properties import read_meta_properties
from kwire.logdir.names import BOOTSTRAP_CHECKPOINT
from kwire.logdir.server_properties import StorageProperties, node_directories, storage_properties
from kwire.logdir.voters import parse_initial_voters
from kwire.testing.local_kafka.local_site import run_tool
from kwire.text.properties import parse_properties
from tests.support.logdir.formatted import formatted_facts, formatted_files

CLUSTER = "4L6g3nShT-eMCtK--X86sw"
NOW = datetime(2026, 11, 21, 10, 28, 56, tzinfo=UTC)
FIRST = "1@127.0.0.1:29101:JEXY6aqzQY-32P5TStzaFg"
SECOND = "2@example.com:9093:MvDxzVmcRsaTz33bUuRU6A"

DYNAMIC = {"controller.quorum.bootstrap.servers": "127.0.0.1:29101"}
STATIC = {"controller.quorum.voters": "1@127.0.0.1:29101"}
MIGRATING = STATIC | {
    "zookeeper.metadata.migration.enable": "true",
    "zookeeper.connect": "127.0.0.1:2181",
    "inter.broker.protocol.version": "3.8",
}
BROKER = {"process.roles": "broker", "node.id": "7", "listeners": "PLAINTEXT://127.0.0.1:29102"}


def server_properties(folder: Path, **more: str) -> dict[str, str]:
    return {
        "process.roles": "controller",
        "node.id": "1",
        "log.dirs": str(folder / "data"),
        "listeners": "CONTROLLER://127.0.0.1:29101",
        "controller.listener.names": "CONTROLLER",
        "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
        **more,
    }


def options(flags: str) -> FormatOptions:
    """The flags of kafka-storage as FormatOptions."""
    words: Iterator[str] = iter(flags.split())
    values: dict[str, object] = {}
    features = {}
    for word in words:
        match word:
            case "--standalone":
                values["standalone"] = True
            case "--no-initial-controllers":
                values["no_initial_controllers"] = True
            case "--initial-controllers":
                values["initial_controllers"] = parse_initial_voters(next(words))
            case "--release-version":
                values["release_version"] = next(words)
            case "--feature":
                name, level = parse_feature(next(words))
                features[name] = level
            case "--ignore-formatted":
                values["ignore_formatted"] = True
    return FormatOptions(cluster_id=CLUSTER, features=features, **values)  # type: ignore[arg-type]


def by_kwire(folder: Path, flags: str, more: dict[str, str]) -> StorageProperties:
    properties = storage_properties(server_properties(folder, **more))
    write(plan(properties, options(flags)), NOW)
    return properties


def by_kafka(folder: Path, flags: str, more: dict[str, str], version: str) -> bool:
    """Run the StorageTool of a release; return True if it did it."""
    folder.mkdir(exist_ok=True)
    pairs = server_properties(folder, **more).items()
    (folder / "server.properties").write_text("".join(f"{k}={v}\n" for k, v in pairs))
    jars = os.pathsep.join(map(str, real_kafka.class_path(version)))
    arguments = ["kafka.tools.StorageTool", "format", "-t", CLUSTER, "-c", "server.properties"]
    tool = run_tool(str(real_kafka.java()), jars, [*arguments, *flags.split()], 60, folder)
    return tool.returncode == 0


FORMATS = [
    ("--standalone", DYNAMIC),
    ("--no-initial-controllers --release-version 3.9-IV0", DYNAMIC),
    (f"--initial-controllers {FIRST},{SECOND} --feature transaction.version=1", DYNAMIC),
    ("--standalone --release-version 4.0 --feature group.version=0", DYNAMIC),
    ("--feature metadata.version=23 --feature eligible.leader.replicas.version=1", STATIC),
    ("", DYNAMIC | BROKER),
    (f"--initial-controllers {FIRST}", DYNAMIC | BROKER),
    ("--standalone", DYNAMIC | {"log.dirs": "a,b", "metadata.log.dir": "c"}),
]


@pytest.mark.java
@pytest.mark.parametrize(("flags", "more"), FORMATS)
def test_the_files_are_those_of_storage_tool(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, flags: str, more: dict[str, str]
) -> None:
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    ours.mkdir()
    monkeypatch.chdir(ours)
    by_kwire(ours, flags, more)
    # Without a version kwire formats as Kafka 4.3 does, whose nodes and those of 4.4 then boot.
    assert by_kafka(theirs, flags, more, "4.3.1")
    assert formatted_files(ours) == formatted_files(theirs)
    assert formatted_facts(ours) == formatted_facts(theirs)


@pytest.mark.java
def test_a_controller_that_migrates_is_formatted_for_the_brokers_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    ours.mkdir()
    monkeypatch.chdir(ours)
    by_kwire(ours, "", MIGRATING)
    assert by_kafka(theirs, "", MIGRATING, "3.9.1")
    assert formatted_files(ours) == formatted_files(theirs)
    assert formatted_facts(ours) == formatted_facts(theirs)


def test_another_release_than_the_brokers_can_be_asked_for() -> None:
    properties = storage_properties(server_properties(Path("/none"), **MIGRATING))
    assert plan(properties, options("")).metadata_version.name == "3.8-IV0"
    asked = plan(properties, options("--release-version 3.9"))
    assert asked.metadata_version.name == "3.9-IV0"
    levels = plan(properties, options("--feature metadata.version=20"))
    assert levels.metadata_version.name == "3.8-IV0"
    alone = {name: value for name, value in MIGRATING.items() if not name.startswith("zookeeper.")}
    other = storage_properties(server_properties(Path("/none"), **alone))
    assert plan(other, options("")).metadata_version.name == "4.3-IV0"


@pytest.mark.java
def test_a_cluster_of_4_4_begins_with_the_levels_of_its_storage_tool(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    ours.mkdir()
    monkeypatch.chdir(ours)
    by_kwire(ours, "--standalone --release-version 4.4", DYNAMIC)
    assert by_kafka(theirs, "--standalone", DYNAMIC, "4.4.0")
    (own,), (data,) = (list(folder.glob("*/meta.properties")) for folder in (ours, theirs))
    # Kafka 4.4 has them in the voter's first snapshot, in place of a file of their own.
    assert not (data.parent / BOOTSTRAP_CHECKPOINT).exists()
    assert read_bootstrap(own.parent) == read_bootstrap(data.parent)


REFUSED = [
    ("", DYNAMIC, "give `standalone`"),
    ("--standalone", STATIC, "makes a static quorum"),
    (f"--initial-controllers {FIRST}", STATIC, "makes a static quorum"),
    ("--standalone", DYNAMIC | BROKER, "is for a controller"),
    ("--standalone --no-initial-controllers", DYNAMIC, "give one of"),
    ("--feature kraft.version=1", STATIC, "needs a dynamic quorum"),
    ("--standalone --feature kraft.version=0", DYNAMIC, "is for a static quorum"),
    ("--standalone --feature metadata.version=34", DYNAMIC, "not yet stable"),
    ("--standalone --feature metadata.version=99", DYNAMIC, "levels are 7 to 34"),
    ("--standalone --release-version 9.9", DYNAMIC, "no metadata.version is called"),
    ("--standalone --feature foo=1", DYNAMIC, "known are metadata.version, eligible"),
    ("--standalone --feature share.version=9", DYNAMIC, "levels are 0 to 2"),
    (
        "--standalone --release-version 3.9-IV0 --feature eligible.leader.replicas.version=1",
        DYNAMIC,
        "needs metadata.version 4.0-IV1",
    ),
    (
        "--standalone --release-version 4.0 --feature metadata.version=25",
        DYNAMIC,
        "not both of them",
    ),
]


@pytest.mark.java
@pytest.mark.parametrize(("flags", "more", "reason"), REFUSED)
def test_what_storage_tool_refuses_is_refused_and_nothing_written(
    tmp_path: Path, flags: str, more: dict[str, str], reason: str
) -> None:
    assert not by_kafka(tmp_path / "theirs", flags, more, "4.4.0")
    with pytest.raises(InvalidValue, match=reason):
        by_kwire(tmp_path / "ours", flags, more)
    assert not (tmp_path / "ours").exists()


@pytest.fixture
def formatted(tmp_path: Path) -> StorageProperties:
    return by_kwire(tmp_path, "--standalone", DYNAMIC | {"log.dirs": f"{tmp_path}/a,{tmp_path}/b"})


def test_a_formatted_directory_is_left_as_it_is(formatted: StorageProperties) -> None:
    before = {path: path.read_bytes() for path in formatted.metadata_log_dir.rglob("*.*")}
    with pytest.raises(InvalidValue, match="already formatted"):
        plan(formatted, options("--standalone"))
    other = formatted.directories[1]
    (other / "meta.properties").unlink()
    again = plan(formatted, options("--standalone --ignore-formatted"))
    assert [(path, kind) for path, kind, _ in again.directories] == [(other, DirectoryKind.DATA)]
    write(again, NOW)
    assert {path: path.read_bytes() for path in before} == before


def test_directories_of_another_cluster_or_node_are_refused(formatted: StorageProperties) -> None:
    wanted = options("--standalone --ignore-formatted")
    with pytest.raises(InvalidValue, match=f"belongs to cluster {CLUSTER}, not other"):
        plan(formatted, replace(wanted, cluster_id="other"))
    with pytest.raises(InvalidValue, match="belongs to node 1, not 2"):
        plan(replace(formatted, node_id=2), wanted)


def test_the_voter_gets_the_directory_id_that_the_others_are_told_of(tmp_path: Path) -> None:
    ids = map(UUID, (f"{n:032x}" for n in count(1)))
    properties = storage_properties(server_properties(tmp_path, **DYNAMIC))
    made = plan(properties, options("--standalone"), new_id=ids.__next__)
    ((_, kind, directory_id),) = made.directories
    assert kind is DirectoryKind.VOTER
    assert [voter.directory_id for voter in made.voters] == [directory_id]
    assert str(made.voters[0]).startswith("1@127.0.0.1:29101:")


def test_info_names_what_is_wrong(formatted: StorageProperties, tmp_path: Path) -> None:
    assert inspect(formatted.directories).problems == ()
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("")
    (tmp_path / "b" / "meta.properties").write_text("version=1\nnode.id=x\ncluster.id=y\n")
    found = inspect([tmp_path / name for name in ("a", "b", "empty", "file", "missing")])
    assert found.meta == read_meta_properties(tmp_path / "a")
    assert found.problems == (
        f"{tmp_path}/b/meta.properties, byte 0: node.id is 'x', not a number of 32 bits",
        f"{tmp_path}/empty is not formatted.",
        f"{tmp_path}/file is not a directory",
        f"{tmp_path}/missing does not exist",
    )


def test_info_sees_directories_that_do_not_belong_together(
    formatted: StorageProperties, tmp_path: Path
) -> None:
    meta = tmp_path / "b" / "meta.properties"
    meta.write_text(meta.read_text().replace("node.id=1", "node.id=2"))
    assert inspect(formatted.directories).problems == (
        "Mismatched node IDs between storage directories.",
    )


MIGRATED = "version=0\nbroker.id=1\ncluster.id=x\n"
"""Kafka 3.9.1 and 4.3.1 start with it in KRaft mode, although kafka-storage names a problem."""


@pytest.mark.parametrize(
    ("text", "requires_version_0", "problem"),
    [
        (MIGRATED, False, None),
        (MIGRATED, True, None),
        ("version=0\ncluster.id=x\n", False, "has no broker.id: a node of KRaft does not"),
        ("broker.id=1\n", False, "has no cluster.id: a node of KRaft does not"),
        ("", False, "has no broker.id and cluster.id: a node of KRaft does not"),
        ("", True, None),
        ("version=1\nnode.id=1\ncluster.id=x\n", True, "was formatted for KRaft; a broker in"),
    ],
)
def test_info_names_what_a_node_does_not_start_with(
    tmp_path: Path, text: str, requires_version_0: bool, problem: str | None
) -> None:
    (tmp_path / "meta.properties").write_text(text)
    problems = inspect([tmp_path], requires_version_0=requires_version_0).problems
    assert len(problems) == (problem is not None)
    assert not problem or problems[0].startswith(f"{tmp_path} {problem}")


ZOOKEEPER_MODE = {"zookeeper.connect": "localhost:2181", "log.dirs": "/b,/a"}


@pytest.mark.parametrize(
    ("more", "paths", "requires_version_0"),
    [
        ({}, "/a /b", True),
        ({"metadata.log.dir": "/m"}, "/a /b", True),
        (
            {"metadata.log.dir": "/m", "zookeeper.metadata.migration.enable": "true"},
            "/a /b /m",
            False,
        ),
        (
            {"process.roles": "broker", "node.id": "1", "controller.listener.names": "C"},
            "/a /b",
            False,
        ),
    ],
)
def test_the_directories_of_a_node_in_zookeeper_mode_are_known(
    more: dict[str, str], paths: str, requires_version_0: bool
) -> None:
    node = node_directories(ZOOKEEPER_MODE | more)
    assert " ".join(map(str, node.paths)) == paths
    assert node.requires_version_0 is requires_version_0


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("version=x", "version is 'x', not a number"),
        ("version=2", "version 2: 0 and 1 are known"),
        ("version=1\nnode.id=1", "cluster.id is missing"),
        ("version=1\ncluster.id=x", "node.id is missing"),
        ("version=1\ncluster.id=x\nnode.id=1\ndirectory.id=?", "directory.id: '\\?' is no id"),
    ],
)
def test_a_garbled_meta_properties_is_reported(tmp_path: Path, text: str, reason: str) -> None:
    (tmp_path / "meta.properties").write_text(text)
    with pytest.raises(FileError, match=f"meta.properties, byte 0: {reason}"):
        read_meta_properties(tmp_path)


def test_the_meta_properties_of_zookeepers_time_are_read(tmp_path: Path) -> None:
    (tmp_path / "meta.properties").write_text("version=0\nbroker.id=3\n")
    meta = read_meta_properties(tmp_path)
    assert meta is not None
    assert (meta.version, meta.node_id, meta.cluster_id) == (0, 3, None)


@pytest.mark.parametrize("text", ["", "1", "1@a:1", "x@a:1:b", "1@a:0:b", f"{FIRST},{FIRST}"])
def test_wrong_initial_controllers_are_refused(text: str) -> None:
    with pytest.raises(InvalidValue, match=r"id@host:port:directory-id|occurs twice"):
        parse_initial_voters(text)


def test_an_initial_controller_may_have_an_ipv6_address() -> None:
    text = "1@[::1]:9093:JEXY6aqzQY-32P5TStzaFg"
    (voter,) = parse_initial_voters(text)
    assert (voter.host, str(voter)) == ("::1", text)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"process.roles": ""}, "process.roles"),
        ({"process.roles": "zookeeper"}, "process.roles"),
        ({"node.id": "-1"}, "node.id is '-1'"),
        ({"controller.listener.names": ""}, "controller.listener.names"),
        ({"log.dirs": ","}, "log.dirs names no directory"),
        ({"listeners": "CONTROLLER://x"}, "has no port"),
    ],
)
def test_server_properties_that_make_no_sense_are_refused(
    tmp_path: Path, change: dict[str, str], reason: str
) -> None:
    with pytest.raises(InvalidValue, match=reason):
        storage_properties(server_properties(tmp_path, **change))


def test_properties_are_read_as_java_reads_them() -> None:
    text = (
        "# comment\n! another\n\n  a = 1 \nb:2\nc 3\nd\nlong=one,\\\n   two\n"
        "e\\=f\\:g=h\\u0041\\t\\\\\na=4\\n"
    )
    assert parse_properties(text) == {
        "a": "4\n",
        "b": "2",
        "c": "3",
        "d": "",
        "long": "one,two",
        "e=f:g": "hA\t\\",
    }
