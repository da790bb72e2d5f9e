"""`kwire exporter` as a process, and its guide."""

import re
import signal
import subprocess
from pathlib import Path
from subprocess import PIPE
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from tests.support.cli.command import KWIRE, Command
from tests.support.paths import DOCS


def test_without_a_quorum_it_says_so_and_ends_at_sigterm() -> None:
    addresses = ("--bootstrap-controller", "127.0.0.1:1", "--listen", "127.0.0.1:0")
    command = [str(KWIRE), "exporter", *addresses]
    with subprocess.Popen(command, stderr=PIPE, text=True) as process:
        assert process.stderr
        said = ""
        for line in process.stderr:
            said += line
            if "cannot be described" in line:
                break
        (url,) = re.findall(r"http://\S+/metrics", said)
        with urlopen(url, timeout=60) as page:
            metrics = page.read().decode().splitlines()
        assert "kafka_quorum_up 0.0" in metrics
        assert "kafka_cluster_up 0.0" in metrics
        assert not [line for line in metrics if line.startswith("kafka_quorum_leader_id")]
        with urlopen(url.replace("/metrics", "/healthz"), timeout=60) as page:
            assert page.status == 200
        with pytest.raises(HTTPError) as unready:
            urlopen(url.replace("/metrics", "/readyz"), timeout=60)
        assert unready.value.code == 503
        assert b"127.0.0.1:1 refused the connection" in unready.value.read()
        unready.value.close()
        process.send_signal(signal.SIGTERM)
        rest = process.stderr.read()
        assert process.wait(60) == 0
        assert "Traceback" not in rest


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "give --bootstrap-controller, --bootstrap-server or --profile."),
        (["--bootstrap-controller", "x"], "'x' is no address"),
        (["--bootstrap-controller", "a:1", "--listen", "9308"], "--listen: '9308' is no address"),
    ],
)
def test_addresses_that_are_none_are_wrong_usage(
    arguments: list[str], sentence: str, kwire: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KWIRE_PROFILE", raising=False)
    run = kwire("exporter", *arguments)
    assert run.code == 2
    assert run.error.startswith(sentence)


def test_a_profile_with_both_kinds_of_nodes_means_the_controllers(
    kwire: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "config.toml"
    path.write_text("[profiles.a]\nbootstrap_servers = 'b:1'\nbootstrap_controllers = 'c'\n")
    monkeypatch.setenv("KWIRE_CONFIG", str(path))
    assert kwire("exporter", "-P", "a").error.startswith("'c' is no address")


def test_the_guide_has_every_option(kwire: Command) -> None:
    options = set(re.findall(r"--[a-z][a-z-]+", kwire("exporter", "--help").out))
    page = (DOCS / "operators" / "exporter.md").read_text()
    assert options - {"--help"} <= set(re.findall(r"--[a-z][a-z-]+", page))
