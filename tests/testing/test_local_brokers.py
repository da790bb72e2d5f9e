"""The Kafka of a quorum's brokers: which are run, and how others are refused before any start."""

import os
import re
import signal
import subprocess
from pathlib import Path

import pytest

from kwire.errors import InvalidValue
from kwire.testing import LocalBrokers, Quorum
from kwire.testing.local_kafka.errors import JarsNotFound
from tests.support.cli.command import KWIRE
from tests.support.eventually import eventually_blocking


def unpacked(folder: Path, version: str) -> Path:
    (folder / "libs").mkdir(parents=True)
    for jar in (f"kafka-clients-{version}.jar", f"kafka_2.13-{version}.jar"):
        (folder / "libs" / jar).touch()
    return folder


def test_only_known_releases_are_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KAFKA_HOME", raising=False)
    assert LocalBrokers(1).version == "4.3.1"
    assert LocalBrokers(1, version="3.9.1").release == "3.9"
    with pytest.raises(InvalidValue, match=r"Kafka 1\.0\.0 is none that is loaded"):
        LocalBrokers(1, version="1.0.0")


def test_the_variable_names_a_release_unless_another_version_is_chosen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KAFKA_HOME", str(tmp_path))
    with pytest.raises(JarsNotFound, match="has no libs/kafka-clients"):
        LocalBrokers(1)
    unpacked(tmp_path, "4.4.0")
    assert LocalBrokers(1).release == "4.4"
    assert LocalBrokers(1, version="4.3.1").version == "4.3.1"
    assert LocalBrokers(0).version == "4.3.1"


def test_a_folder_of_another_version_than_asked_for_is_refused(tmp_path: Path) -> None:
    home = unpacked(tmp_path, "4.4.0")
    assert LocalBrokers(1, kafka=home, version="4.4.0").version == "4.4.0"
    with pytest.raises(InvalidValue, match=re.escape(f"{home} is Kafka 4.4.0, not 4.3.1")):
        LocalBrokers(1, kafka=home, version="4.3.1")


@pytest.mark.parametrize(("version", "release"), [("3.9.0", "3.9"), ("4.5.0-SNAPSHOT", "4.4")])
def test_the_controllers_newest_metadata_version_is_the_most_that_brokers_get(
    tmp_path: Path, version: str, release: str
) -> None:
    assert LocalBrokers(1, kafka=unpacked(tmp_path, version)).release == release


def test_brokers_that_could_not_find_the_controllers_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidValue, match=r"is Kafka 3\.8\.1, whose brokers do not know"):
        LocalBrokers(1, kafka=unpacked(tmp_path, "3.8.1"))


def test_a_quorum_that_is_refused_holds_no_port_and_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A socket left open is a ResourceWarning, and so is a temporary folder."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with pytest.raises(InvalidValue, match="0 to 9 brokers beside it, not 10"):
        Quorum(3, brokers=10)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM])
def test_a_command_that_ends_while_it_loads_jars_leaves_no_folder(
    tmp_path: Path, end: signal.Signals
) -> None:
    files, tools, loads, hold = (tmp_path / name for name in ("tmp", "bin", "loads", "hold"))
    files.mkdir()
    tools.mkdir()
    os.mkfifo(hold)
    mvn = tools / "mvn"
    mvn.write_text(f"#!/bin/sh\n: > {loads}\nread line < {hold}\n")
    mvn.chmod(0o755)
    environment = {
        **os.environ,
        "TMPDIR": str(files),
        "KWIRE_CACHE": str(tmp_path / "cache"),
        "KWIRE_RESOLVER": "mvn",
        "PATH": f"{tools}:{os.environ['PATH']}",
    }
    command = [str(KWIRE), "controller", "quorum", "-n", "1", "--brokers", "1"]
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE) as running:
        eventually_blocking(loads.exists)
        assert any(file.name.startswith("kwire-quorum-") for file in files.iterdir())
        running.send_signal(end)
        with hold.open("r+b", buffering=0) as held:  # r+: opens also if mvn has ended, too
            held.write(b"\n")
            running.communicate(timeout=60)
    eventually_blocking(lambda: not list(files.iterdir()))
