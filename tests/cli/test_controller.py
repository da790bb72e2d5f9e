"""`kwire controller` runs controllers in the foreground and ends them in order."""

import os
import re
import signal
import subprocess
from pathlib import Path
from subprocess import PIPE
from urllib.error import URLError
from urllib.request import urlopen

import pytest
from prometheus_client.parser import text_string_to_metric_families

from real_kafka import free_port
from tests.cli.command import KWIRE, Command


def properties(folder: Path, more: str = "") -> Path:
    port = free_port()
    file = folder / "server.properties"
    file.write_text(
        "process.roles=controller\nnode.id=3000\n"
        f"log.dirs={folder}/data\nlisteners=CONTROLLER://127.0.0.1:{port}\n"
        "controller.listener.names=CONTROLLER\n"
        f"controller.quorum.bootstrap.servers=127.0.0.1:{port}\n{more}"
    )
    return file


def wait_for(process: subprocess.Popen[str], text: str) -> str:
    """What the process says on stderr up to a line with this text."""
    assert process.stderr
    said = ""
    for line in process.stderr:
        said += line
        if text in line:
            return said
    raise AssertionError(f"it ended without {text!r}: {said}")


def test_a_directory_must_be_formatted_first(kwire: Command, tmp_path: Path) -> None:
    run = kwire("controller", "run", str(properties(tmp_path)))
    assert run.code == 1
    assert run.error == f"{tmp_path}/data is not formatted: run `kwire storage format` first"


def test_a_file_without_a_meaning_is_named(kwire: Command, tmp_path: Path) -> None:
    file = properties(tmp_path, "controller.quorum.fetch.timeout.ms=soon\n")
    run = kwire("controller", "run", str(file))
    assert run.code == 1
    assert run.error.startswith(f"{file}: controller.quorum.fetch.timeout.ms is 'soon'")


def test_a_formatted_controller_leads_and_ends_at_sigterm(kwire: Command, tmp_path: Path) -> None:
    file = properties(tmp_path, "num.io.threads=8\n")
    format_ = ("storage", "format", "-c", str(file), "-t", "a-cluster", "--standalone")
    assert kwire(*format_).code == 0
    with subprocess.Popen(
        [KWIRE, "controller", "run", str(file)], stdout=PIPE, stderr=PIPE, text=True
    ) as run:
        said = wait_for(run, "controller 3000 leads")
        assert "not taken by kwire: num.io.threads" in said
        run.send_signal(signal.SIGTERM)
        rest = run.communicate(timeout=60)[1]
    assert run.returncode == 0, rest
    assert "Traceback" not in rest


def test_a_quorum_says_how_to_join_it_and_leaves_nothing_behind(tmp_path: Path) -> None:
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(
        [KWIRE, "controller", "quorum", "-n", "3"],
        env=environment,
        stdout=PIPE,
        stderr=PIPE,
        text=True,
    ) as run:
        assert run.stdout
        told = "".join(run.stdout.readline() for _ in range(3))
        assert re.search(r"bootstrap\.servers=(127\.0\.0\.1:\d+,){2}127\.0\.0\.1:\d+\n", told)
        assert len(list(tmp_path.glob("kwire-quorum-*/node-300*"))) == 3
        run.send_signal(signal.SIGINT)
        rest = run.communicate(timeout=60)[1]
    assert run.returncode == 130, rest
    assert "Traceback" not in rest
    assert list(tmp_path.glob("kwire-quorum-*")) == []


def test_metrics_are_scraped_from_the_command_that_runs(kwire: Command, tmp_path: Path) -> None:
    file = properties(tmp_path)
    format_ = ("storage", "format", "-c", str(file), "-t", "a-cluster", "--standalone")
    assert kwire(*format_).code == 0
    with subprocess.Popen(
        [KWIRE, "controller", "run", str(file), "--metrics", "127.0.0.1:0"],
        stdout=PIPE,
        stderr=PIPE,
        text=True,
    ) as run:
        said = wait_for(run, "controller 3000 leads")
        where = re.search(r"metrics are at (http://127\.0\.0\.1:\d+/metrics)", said)
        assert where
        with urlopen(where[1], timeout=60) as answer:
            kind, text = answer.headers["Content-Type"], answer.read().decode()
        run.send_signal(signal.SIGTERM)
        rest = run.communicate(timeout=60)[1]
    assert kind.startswith("text/plain")
    families = {family.name: family for family in text_string_to_metric_families(text)}
    leader = families["kafka_server_raft_metrics_current_leader"].samples
    assert [(one.labels, one.value) for one in leader] == [({"node_id": "3000"}, 3000)]
    assert "kafka_network_requestmetrics_requests" in families
    assert run.returncode == 0, rest
    with pytest.raises(URLError):
        urlopen(where[1], timeout=60)


@pytest.mark.parametrize("command", [("run", "server.properties"), ("quorum",)])
def test_metrics_need_an_address(kwire: Command, command: tuple[str, ...]) -> None:
    run = kwire("controller", *command, "--metrics", "9404")
    assert run.code == 2
    assert "--metrics: '9404' is no address: write host:port" in run.error


def test_a_folder_that_has_nodes_is_left_alone(kwire: Command, tmp_path: Path) -> None:
    (tmp_path / "node-3000").mkdir()
    run = kwire("controller", "quorum", "--folder", str(tmp_path))
    assert run.code == 1
    assert "has nodes already" in run.error
