"""The archive of Kafka's classes: made once, used by nodes and tools, and never in the way."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from kwire.testing.local_kafka import class_data
from kwire.testing.local_kafka.class_data import TOOL, node_options, tool_options
from kwire.testing.local_kafka.errors import NodeFailed
from kwire.testing.local_kafka.jars import class_path, tools_class_path
from kwire.testing.local_kafka.local_site import run_tool
from real_kafka import java

RELEASE = "4.3.1"


def options(version: str = RELEASE) -> tuple[str, ...]:
    """Return the options of nodes of a release, and have the archive made."""
    return node_options(java(), version, class_path(version))


def help_of_a_tool(*options: str) -> tuple[str, str]:
    """Run a tool of Kafka's with options of Java; return what it prints and its errors."""
    jars = os.pathsep.join(map(str, class_path(RELEASE)))
    ran = run_tool(str(java()), jars, [TOOL, "--help"], 60, options=options)
    return ran.stdout, ran.stderr


@pytest.mark.java
def test_classes_come_from_the_archive(tmp_path: Path) -> None:
    loaded = tmp_path / "loaded"
    help_of_a_tool(*options(), f"-Xlog:class+load:file={loaded}")
    lines = [line for line in loaded.read_text().splitlines() if f" {TOOL} " in line]
    assert lines
    assert all("shared objects file" in line for line in lines)


@pytest.mark.java
def test_the_tools_of_a_release_may_be_those_of_another() -> None:
    assert tool_options(java(), "4.4.0", tools_class_path("4.4.0")) == options(RELEASE)


def overwrite(file: Path) -> None:
    with file.open("r+b") as archive:
        archive.seek(file.stat().st_size // 3)
        archive.write(b"\xff" * 5_000)


DAMAGES: dict[str, Callable[[Path], object]] = {
    "damaged": overwrite,
    "cut": lambda file: os.truncate(file, 1_000_000),
    "of something else": lambda file: file.write_bytes(b"junk" * 1_000),
    "missing": Path.unlink,
}


@pytest.mark.java
def test_an_archive_that_is_no_good_is_passed_over_in_silence(tmp_path: Path) -> None:
    archive, *others = options()
    good = Path(archive.partition("=")[2])
    expected = help_of_a_tool()
    for name, damage in DAMAGES.items():
        bad = tmp_path / "bad.jsa"
        shutil.copyfile(good, bad)
        damage(bad)
        printed = help_of_a_tool(f"-XX:SharedArchiveFile={bad}", *others)
        assert printed == expected, name


@pytest.fixture
def fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache without an archive."""
    jars = tmp_path / "jars"
    jars.mkdir()
    monkeypatch.setattr(class_data, "cache", lambda: tmp_path)
    return jars


def archives(jars: Path) -> list[Path]:
    return list(jars.glob("*.jsa"))


def test_a_failure_is_told_once_and_not_tried_again(
    fresh: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> list[Path]:
        raise NodeFailed("Node 1 ended with 1.")

    monkeypatch.setattr(class_data, "_class_lists", fails)
    messages: list[str] = []
    for _ in range(2):
        assert node_options(Path("java"), RELEASE, [], messages.append) == ()
    (archive,) = archives(fresh)
    assert messages == [
        f"making an archive of the classes of Kafka {RELEASE}, once",
        f"without an archive of classes: Node 1 ended with 1.; remove {archive} to try again",
    ]
    assert archive.stat().st_size == 0


def test_an_interruption_leaves_nothing(fresh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> list[Path]:
        raise KeyboardInterrupt

    monkeypatch.setattr(class_data, "_class_lists", interrupted)
    left = fresh / f"classes-{RELEASE}~killed"
    left.mkdir()
    with pytest.raises(KeyboardInterrupt):
        node_options(Path("java"), RELEASE, [])
    assert [path.name for path in fresh.iterdir()] == [f"kafka-{RELEASE}.lock"]


def test_a_cache_that_cannot_be_written_is_done_without(
    fresh: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(class_data, "cache", lambda: fresh / "one.jar")
    (fresh / "one.jar").touch()
    assert node_options(Path("java"), RELEASE, []) == ()


def test_another_java_gets_an_archive_of_its_own(
    fresh: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(class_data, "_class_lists", lambda *_: [])
    monkeypatch.setattr(class_data, "_dump", lambda archive, *_: archive.write_bytes(b"classes"))
    made = set()
    for version in ("17", "21", "21"):
        monkeypatch.setattr(class_data, "version_text", lambda _, version=version: version)
        made.add(node_options(Path("java"), RELEASE, []))
    assert len(made) == len(archives(fresh)) == 2


def test_numbers_of_one_list_do_not_meet_those_of_another() -> None:
    """As Java 21 writes them: a number twice is an error in what it reads."""
    node = ["# comment", "java/lang/Object id: 0", "org/a/B id: 277", "@lambda-proxy org/a/B run"]
    tool = ["java/lang/Object id: 0", "org/a/C id: 277", "org/a/D id: 9 super: 277 source: a.jar"]
    assert list(dict.fromkeys(class_data._names([*node, *tool]))) == [
        "# comment",
        "java/lang/Object",
        "org/a/B",
        "@lambda-proxy org/a/B run",
        "org/a/C",
    ]
