"""Completion in the real shells, installed by `kwire --install-completion`."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.admin.scripted_brokers import ScriptedBrokers
from tests.support.cli.scripted_cluster import at, scripted_cluster
from tests.support.cli.shells import SHELLS, Shell, shell_named
from tests.support.eventually import eventually_blocking

pytestmark = pytest.mark.real


@pytest.fixture(params=SHELLS)
def shell(request: pytest.FixtureRequest, tmp_path: Path) -> Shell:
    shell = shell_named(request.param, tmp_path)
    for _ in range(2):  # the second time changes nothing
        subprocess.run(
            [shell.name, "-c", "kwire --install-completion; true"],
            env=shell.environment,
            check=True,
        )
    return shell


@pytest.fixture
def brokers() -> Iterator[ScriptedBrokers]:
    with scripted_cluster() as cluster:
        cluster.leaders = {("orders", 0): 0, ("payments", 0): 0}
        yield cluster


def test_the_start_of_a_shell_reads_the_script_once(shell: Shell) -> None:
    starts = [path.read_text() for path in shell.home.glob(".*rc")]
    assert [text.count("completion") for text in starts] == ([] if shell.name == "fish" else [1])


@pytest.mark.parametrize(
    ("typed", "word"),
    [
        ("kwire quor", "quorum"),
        ("kwire quorum stat", "status"),
        ("kwire protocol show AddRaftVoterReq", "AddRaftVoterRequest"),
        ("kwire topics create --allow-u", "--allow-unlisted"),
        ("kwire configs set topic orders retention.m", "retention.ms="),
        ("kwire doctor --only voters/two-d", "voters/two-directories"),
        ("kwire topics list --output=js", "--output=json"),
    ],
)
def test_names_are_completed(shell: Shell, typed: str, word: str) -> None:
    assert shell.completed(typed).splitlines()[-1] == word


def test_a_profile_is_completed(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text('[profiles.production]\nbootstrap_servers = "a:9092"\n')
    shell.environment["KWIRE_CONFIG"] = str(file)
    assert shell.completed("kwire topics list -P prod").splitlines()[-1] == "production"


def test_a_capture_is_completed_and_no_other_file(shell: Shell) -> None:
    folder = shell.home / "of a day"
    folder.mkdir()
    (folder / "traffic.avro").touch()
    (folder / "traffic.txt").touch()
    typed = {"bash": "of\\ a\\ day/tr", "zsh": "of\\ a\\ day/tr", "fish": "of\\ a\\ day/traffic.a"}
    completed = shell.completed(f"kwire capture cat {typed[shell.name]}")
    assert completed.splitlines()[-1] == "of a day/traffic.avro"


def test_a_topic_is_completed_behind_the_address_of_its_cluster(
    shell: Shell, brokers: ScriptedBrokers
) -> None:
    typed = f"kwire topics describe {' '.join(at(brokers))} ord"
    # On a busy machine the cluster needs more than its 300 ms at times.
    eventually_blocking(
        lambda: shell.completed(typed).splitlines()[-1], lambda word: word == "orders"
    )
