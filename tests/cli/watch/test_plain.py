"""`kwire watch --plain` and its options, as processes in front of a proxy with a feed."""

import json
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import PIPE
from typing import Any

import pytest

from real_kafka import Cluster, free_port
from tests.support.cli.command import KWIRE, Command
from tests.support.cli.proxy_process import talk
from tests.support.cli.watch.feeding_proxy import feeding_proxy


@contextmanager
def watched(feed: str, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """`kwire watch` in a pipe, which the proxy has answered."""
    with subprocess.Popen(
        [KWIRE, "watch", feed, *arguments], stdout=PIPE, stderr=PIPE, text=True
    ) as run:
        assert run.stderr
        try:
            assert run.stderr.readline() == f"watching {feed}\n"
            yield run
        finally:
            if run.poll() is None:
                run.kill()


def test_changes_of_rules_are_told(kwire: Command, node: str) -> None:
    with feeding_proxy(node) as (_, feed), watched(feed, "--json") as run:
        add = ["--name", "cut", "--match", "~api Vote", "--drop", "--feed", feed]
        assert kwire("proxy", "rules", "add", *add).code == 0
        assert run.stderr
        assert run.stderr.readline().startswith("rule 'cut' was added by 127.0.0.1:")


def test_each_flow_is_a_line_as_the_proxy_prints_it(node: str) -> None:
    with feeding_proxy(node) as (address, feed), watched(feed) as run:
        talk(address)
        assert run.stdout
        lines = [run.stdout.readline() for _ in range(4)]
        run.send_signal(signal.SIGINT)
        _, err = run.communicate(timeout=60)
    assert run.returncode == 130
    assert "→ 3000" in lines[1]
    assert "ApiVersions v4" in lines[1]
    assert "API 9999 v3" in lines[2]
    assert "2 RPCs of 2 APIs on 1 connections" in err


def test_json_has_whole_flows_and_the_loss(node: str, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("0123456789abcdef\n")
    with (
        feeding_proxy(node, "--feed-token", str(token)) as (address, feed),
        watched(feed, "--json", "--verbose", "--api", "apiversions", "--token", str(token)) as run,
    ):
        talk(address)
        assert run.stdout
        values = [json.loads(run.stdout.readline()) for _ in range(2)]
        run.send_signal(signal.SIGTERM)
        out, _ = run.communicate(timeout=60)
    assert values[0]["type"] == "opened"
    assert (values[1]["api"], values[1]["node"]) == ("ApiVersions", 3000)
    assert values[1]["messages"][0]["name"] == "ApiVersionsRequest"
    assert json.loads(out.splitlines()[-1])["dropped"] == 0


def test_real_kafka_is_seen_by_a_viewer(kwire: Command, combined: Cluster) -> None:
    node = combined.bootstrap_controllers
    with feeding_proxy(node) as ((host, port), feed), watched(feed, "--json") as run:
        assert kwire("quorum", "status", "--bootstrap-controller", f"{host}:{port}").code == 0
        assert run.stdout
        seen: dict[str, dict[str, Any]] = {}
        while "DescribeCluster" not in seen:
            value = json.loads(run.stdout.readline())
            seen[value.get("api", "")] = value
    described = seen["DescribeCluster"]
    assert described["clientId"] == "kwire-admin"
    assert f"1 controller 1 {node}" in described["summary"]
    assert described["problems"] == []


def test_a_proxy_that_does_not_answer_is_told() -> None:
    address = f"127.0.0.1:{free_port()}"
    with subprocess.Popen([KWIRE, "watch", address], stderr=PIPE, text=True) as run:
        assert run.stderr
        told = run.stderr.readline()
        run.kill()
    assert told == f"no answer from {address}: does `kwire proxy --feed` run there?\n"


WRONG_USAGE = {
    "no address": (["9900"], "'9900' is no address"),
    "no expression": (["--view", "~api Fetsch"], "column 6: no API is called 'Fetsch'"),
    "no token": (["--token", "none"], "cannot read none"),
    "lines in a browser": (["--web", "8080", "--json"], "--web serves the screen"),
}


@pytest.mark.parametrize(("arguments", "sentence"), WRONG_USAGE.values(), ids=list(WRONG_USAGE))
def test_wrong_usage_is_exit_code_2(kwire: Command, arguments: list[str], sentence: str) -> None:
    run = kwire("watch", *arguments)
    assert run.code == 2
    assert sentence in run.err


def test_a_port_that_is_taken_is_named_before_anything_is_promised(kwire: Command) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        run = kwire("watch", "--web", str(port))
    assert run.code == 1
    told = f"cannot serve at 127.0.0.1:{port}: address already in use; give another --web"
    assert run.err.strip() == f"Error: {told}"


@pytest.mark.parametrize(
    ("package", "arguments"),
    [
        ("asyncio_dgram", ["watch", "--plain"]),
        ("asyncio_dgram", ["proxy", "--listen", "a:1=b:1", "--feed", "127.0.0.1:0"]),
        ("textual_serve", ["watch", "--web", "8080"]),
    ],
)
def test_without_its_packages_it_says_what_to_install(package: str, arguments: list[str]) -> None:
    program = (
        f"import sys; sys.modules[{package!r}] = None; from kwire.cli.main import main; main()"
    )
    run = subprocess.run(
        [KWIRE.with_name("python"), "-c", program, *arguments],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert run.returncode == 1
    said = "Error: watching needs more packages: pip install 'kwire[watch]'"
    assert run.stderr.splitlines()[-1] == said
