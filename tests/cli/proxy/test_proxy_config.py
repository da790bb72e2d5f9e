"""`kwire proxy-config` prints the lines to change and the proxy to run; the files stay."""

import json
from pathlib import Path

from tests.support.cli.command import Command

FILE = """process.roles=controller
node.id=3000
listeners=CONTROLLER://localhost:9093
controller.listener.names=CONTROLLER
"""


def test_lines_and_command_are_printed(kwire: Command, tmp_path: Path) -> None:
    path = tmp_path / "server.properties"
    path.write_text(FILE)
    run = kwire("proxy-config", str(path), "--first-port", "29000")
    assert (run.code, run.err) == (0, "")
    assert run.out == (
        f"# {path}: node 3000\n"
        "advertised.listeners=CONTROLLER://127.0.0.1:29000\n"
        "controller.quorum.bootstrap.servers=127.0.0.1:29000\n\n"
        "# To format a new quorum: --initial-controllers 3000@127.0.0.1:29000:DIRECTORY-ID\n"
        "kwire proxy \\\n  --listen 3000@127.0.0.1:29000=localhost:9093\n"
    )
    assert path.read_text() == FILE


def test_scripts_get_json(kwire: Command, tmp_path: Path) -> None:
    path = tmp_path / "server.properties"
    path.write_text(FILE)
    run = kwire("proxy-config", str(path), "--rewrite-endpoints", "--json")
    assert json.loads(run.out) == {
        "properties": {str(path): {"controller.quorum.bootstrap.servers": "127.0.0.1:19092"}},
        "proxy": ["--listen 3000@127.0.0.1:19092=localhost:9093", "--rewrite-endpoints"],
        "initial_controllers": ["3000@127.0.0.1:19092:DIRECTORY-ID"],
    }


def test_what_cannot_be_is_wrong_usage(kwire: Command, tmp_path: Path) -> None:
    path = tmp_path / "server.properties"
    path.write_text(FILE.replace("localhost", ""))
    for arguments in ([str(path)], [str(path), "--first-port", "65536"]):
        assert kwire("proxy-config", *arguments).code == 2
    path.write_text(FILE)
    run = kwire("proxy-config", str(path), str(path))
    assert (run.code, run.err.count("\n")) == (2, 4)
    assert "two files have node.id 3000" in run.err
    assert kwire("proxy-config", str(tmp_path / "none")).code == 1


def test_rewriting_needs_a_host_that_others_reach(kwire: Command) -> None:
    listen = ["--listen", "0.0.0.0:29000=localhost:9092"]
    run = kwire("proxy", *listen, "--rewrite-endpoints")
    assert (run.code, "--advertised-host" in run.err) == (2, True)
    assert kwire("proxy", *listen, "--advertised-host", "here").code == 2
