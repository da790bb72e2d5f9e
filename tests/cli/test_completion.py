"""The words that completion offers; test_completion_shells.py types such lines in shells."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Event

import pytest

from kwire.cli import completion_cluster
from kwire.cli.completion import completions
from kwire.cli.completion_scripts import SCRIPTS, script_of, this_shell
from kwire.cli.errors import CommandFailed
from tests.support.admin.scripted_brokers import ScriptedBrokers
from tests.support.cli.command import KWIRE
from tests.support.cli.scripted_cluster import at, scripted_cluster


@pytest.fixture
def brokers(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedBrokers]:
    monkeypatch.setattr(completion_cluster, "PATIENCE", 30)  # on a busy machine
    with scripted_cluster() as cluster:
        cluster.leaders = {("orders", 0): 0, ("payments", 0): 0}
        yield cluster


def words(*typed: str) -> list[str]:
    return [word for word, _ in completions(typed)]


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        (["to"], ["topics", "tokens"]),
        (["quorum", "re"], ["replication", "remove-controller", "replace"]),
        (["proxy", "ru"], ["rules"]),
        (["topics", "list", "--out"], ["--output"]),
        (["topics", "list", "--output", "j"], ["json"]),
        (["topics", "list", "-o", "j"], ["json"]),
        (["topics", "list", "--output=j"], ["--output=json"]),
        (["--debug", "quorum", "sta"], ["status"]),
        (["request", "AddRaft"], ["AddRaftVoter"]),
        (["protocol", "show", "AddRaftVoterRes"], ["AddRaftVoterResponse"]),
        (["protocol", "configs", "log.segment.b"], ["log.segment.bytes"]),
        (["protocol", "configs", "--of", "gr"], ["group"]),
        (["protocol", "show", "--release", "4.4"], ["4.4.0"]),
        (["protocol", "errors", "NOT_LEADER"], ["NOT_LEADER_OR_FOLLOWER"]),
        (["features", "upgrade", "kraft"], ["kraft.version="]),
        (["configs", "describe", "cl"], ["client-metrics"]),
        (["configs", "unset", "topics", "orders", "retention.b"], ["retention.bytes"]),
        (["configs", "set", "topic", "orders", "retention.b"], ["retention.bytes="]),
        (["configs", "set", "broker", "1", "retention.b"], []),
        (["topics", "create", "-c", "retention.b"], ["retention.bytes="]),
        (["quotas", "set", "producer"], ["producer_byte_rate="]),
        (["doctor", "--only", "quorum,migr"], ["quorum,migration"]),
        (["conform", "localhost:9092", "versions/kip-51"], ["versions/kip-511"]),
        (["capture", "cat", "x"], [":captures"]),
        (["proxy", "-r", "x"], [":captures"]),
        (["capture", "import", "x"], [":files"]),
        (["topics", "list", "--command-config=x"], [":files"]),
        (["pipeline", "sql", ""], [":folders"]),
        (["nonsense", "x"], []),
        (["topics", "create", ""], []),
        (["request", "--", "--jso"], []),
    ],
)
def test_names_that_no_cluster_has_to_tell(typed: list[str], offered: list[str]) -> None:
    found = words(*typed)
    if "/" in str(found) or typed[-1] == "quorum,migr":
        found = found[:1]
    assert found == offered


def test_what_is_offered_is_explained() -> None:
    sentence = "Show who leads the quorum, who votes and who observes."
    assert list(completions(["quorum", "status"])) == [("status", sentence)]
    assert list(completions(["quorum", "status", "--js"])) == [
        ("--json", "Print JSON, as -o json does.")
    ]


def test_an_option_that_help_hides_is_not_offered() -> None:
    assert words("groups", "list", "--bootstrap-") == ["--bootstrap-server"]


@pytest.mark.parametrize(
    "line",
    ["topics describe {at} ", "topics delete pay {at} o", "logdirs describe {at} --topic o"],
)
def test_topics_are_those_of_the_cluster_on_the_line(brokers: ScriptedBrokers, line: str) -> None:
    typed = line.format(at=" ".join(at(brokers))).split(" ")
    assert words(*typed) in (["orders"], ["orders", "payments"])


def test_the_cluster_may_be_that_of_a_profile(
    brokers: ScriptedBrokers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "config.toml"
    file.write_text(f'[profiles.lab]\nbootstrap_servers = "{brokers.addresses[0]}"\n')
    monkeypatch.setenv("KWIRE_CONFIG", str(file))
    assert words("topics", "list", "-P", "") == ["lab"]
    assert words("topics", "describe", "-P", "lab", "o") == ["orders"]
    monkeypatch.setenv("KWIRE_PROFILE", "lab")
    assert words("topics", "describe", "o") == ["orders"]


def asked_process(*typed: str, **environment: str) -> tuple[int, bytes, bytes]:
    """Run `kwire` as a script of completion does; return the exit code and both outputs."""
    done = subprocess.run(
        [KWIRE, *typed],
        env={**os.environ, "_KWIRE_COMPLETE": "fish", **environment},
        capture_output=True,
        check=False,
        timeout=60,
    )
    return done.returncode, done.stdout, done.stderr


NOTHING = (0, b"", b"")


def test_a_cluster_that_is_silent_is_silence() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        assert asked_process("topics", "describe", "--bootstrap-server", address, "") == NOTHING


def test_nobody_waits_longer_than_the_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even for the address of a host, which no limit of the client ends."""
    released = Event()

    async def stuck(*_: object) -> list[str]:
        released.wait(20)
        return ["late"]

    monkeypatch.setattr(completion_cluster, "_asked", stuck)
    assert words("topics", "describe", "--bootstrap-server", "localhost:1", "") == []
    released.set()


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--bootstrap-server", "127.0.0.1:1"],
        ["--bootstrap-server", "nonsense"],
        ["--bootstrap-server", "a:1", "--bootstrap-controller", "a:2"],
        ["--bootstrap-server", "127.0.0.1:1", "--command-config", "/nowhere"],
        ["-P", "nobody"],
    ],
)
def test_what_goes_wrong_is_silence(options: list[str], tmp_path: Path) -> None:
    where = {"KWIRE_CONFIG": str(tmp_path / "none.toml")}
    assert asked_process("groups", "describe", *options, "", **where) == NOTHING


def test_a_shell_that_does_not_listen_is_told_nothing() -> None:
    done = subprocess.run(
        ["sh", "-c", f'exec "{KWIRE}" top >&-'],
        env={**os.environ, "_KWIRE_COMPLETE": "fish"},
        stderr=subprocess.PIPE,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, b"")


def test_names_without_a_cluster_import_next_to_nothing() -> None:
    program = (
        "import sys\nfrom kwire.cli.completion import completions\n"
        "assert list(completions(['request', 'Desc']))\nprint(*sys.modules)"
    )
    command = [sys.executable, "-c", program]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert not {"click", "asyncio", "msgspec", "kwire.admin", "kwire.messages"} & set(told)


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("kwire quorum stat", b"status"),
        ("/usr/bin/kwire  quorum ", b"status"),
        ("kwire doctor --only 'quo", b"quorum"),
        ("kwire topics list --output=js", b"json"),
    ],
)
def test_bash_gives_its_whole_line(line: str, offered: bytes) -> None:
    """It divides words at `:` and `=`, and wants what follows the last of them."""
    code, out, err = asked_process(_KWIRE_LINE=line, _KWIRE_BREAKS="\"'><=;|&(:")
    assert (code, err) == (0, b"")
    assert out.partition(b"\t")[0] == offered


def test_the_script_is_that_of_the_shell_that_runs_kwire(monkeypatch: pytest.MonkeyPatch) -> None:
    command = ["bash", "-c", f"{KWIRE} --show-completion; true"]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert shown == SCRIPTS["bash"].text
    monkeypatch.setenv("SHELL", "/bin/csh")
    with pytest.raises(CommandFailed, match="no completion for csh: type it in one of bash, zsh"):
        script_of(this_shell())
