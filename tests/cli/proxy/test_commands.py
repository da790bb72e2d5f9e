"""`kwire proxy` shows what passes and changes nothing, also where it cannot read it."""

import json
import re
import socket
import subprocess
from pathlib import Path
from subprocess import PIPE
from typing import Any

import pytest

from real_kafka import Cluster, free_port
from tests.support.cli.command import KWIRE, Command
from tests.support.cli.proxy_process import (
    ANSWER,
    ASKED,
    PATIENCE,
    STRANGE,
    UNKNOWN,
    end_with_ctrl_c,
    proxy,
    talk,
)


def test_each_rpc_is_a_line_and_the_counts_come_last(node: str) -> None:
    with proxy("--listen", f"3000@127.0.0.1:0={node}") as (run, address):
        talk(address)
        lines, err = end_with_ctrl_c(run)
    (line,) = [line for line in lines if "ApiVersions v4" in line]
    assert "→ 3000" in line
    assert " ms  x : 0 APIs" in line
    assert "2 RPCs of 2 APIs on 1 connections, 1 with problems" in err


def test_an_unknown_api_passes_untouched_and_is_said_to_be_unreadable(node: str) -> None:
    with proxy("--listen", f"127.0.0.1:0={node}") as (run, address):
        talk(address)
        lines, _ = end_with_ctrl_c(run)
    unknown = next(i for i, line in enumerate(lines) if "API 9999 v3" in line)
    assert lines[unknown + 1].strip() == "! the request is not decoded: no API has key 9999"


def test_verbose_shows_the_messages(node: str) -> None:
    with proxy("-v", "--listen", f"127.0.0.1:0={node}") as (run, address):
        talk(address)
        lines, _ = end_with_ctrl_c(run)
    assert [line for line in lines if 'client_software_name: "x"' in line]


def test_json_is_a_value_a_line_with_the_counts_last(node: str) -> None:
    with proxy("--json", "--listen", f"3000@127.0.0.1:0={node}") as (run, address):
        talk(address)
        lines, _ = end_with_ctrl_c(run)
    values: list[dict[str, Any]] = [json.loads(line) for line in lines]
    flows = [value for value in values if value["type"] == "flow"]
    assert [flow["api"] for flow in flows] == ["ApiVersions", "API 9999"]
    assert [flow["node"] for flow in flows] == [3000, 3000]
    assert values[-1]["type"] == "summary"
    assert values[-1]["apis"]["ApiVersions"]["flows"] == 1


@pytest.mark.parametrize(
    ("option", "sentence"),
    [
        (["--api", "fetch"], "0 of 2 RPCs match, of 0 APIs on 0 connections"),
        (["--no-api", "ApiVersions"], "1 of 2 RPCs match, of 1 APIs on 1 connections"),
        (["--view", "~key 9999"], "1 of 2 RPCs match, of 1 APIs on 1 connections"),
    ],
)
def test_what_is_selected_is_shown_and_counted(node: str, option: list[str], sentence: str) -> None:
    with proxy(*option, "--listen", f"127.0.0.1:0={node}") as (run, address):
        talk(address)
        lines, err = end_with_ctrl_c(run)
    assert not [line for line in lines if "ApiVersions" in line]
    assert sentence in err


def test_notices_are_those_of_connections_with_what_is_selected(node: str) -> None:
    with proxy("--json", "--view", "~key 9999", "--listen", f"127.0.0.1:0={node}") as run_at:
        run, address = run_at
        for _ in range(2):
            socket.create_connection(address).close()
        talk(address)
        lines, _ = end_with_ctrl_c(run)
    *seen, summary = [json.loads(line) for line in lines]
    assert [value["type"] for value in seen] == ["opened", "flow", "closed"]
    assert len({value["connection"] for value in seen}) == 1
    assert (summary["flows"], summary["others"], summary["connections"]) == (1, 1, 1)


def test_it_ends_when_nobody_reads_any_more() -> None:
    with proxy("--listen", f"127.0.0.1:0=127.0.0.1:{free_port()}") as (run, address):
        assert run.stdout
        assert run.stderr
        run.stdout.close()
        with socket.create_connection(address, timeout=PATIENCE) as client:
            assert client.recv(1) == b""
        assert run.wait(timeout=PATIENCE) == 0
        assert run.stderr.read() == ""


def test_a_node_that_does_not_listen_is_told_and_the_proxy_goes_on() -> None:
    with proxy("--listen", f"127.0.0.1:0=127.0.0.1:{free_port()}") as (run, address):
        for _ in range(2):
            with socket.create_connection(address, timeout=PATIENCE) as client:
                assert client.recv(1) == b""
        lines, _ = end_with_ctrl_c(run)
    assert len([line for line in lines if "refused: " in line]) == 2


def test_quorum_status_through_the_proxy_is_shown(kwire: Command, combined: Cluster) -> None:
    listen = f"1@127.0.0.1:0={combined.bootstrap_controllers}"
    with proxy("--listen", listen) as (run, (host, port)):
        assert kwire("quorum", "status", "--bootstrap-controller", f"{host}:{port}").code == 0
        lines, _ = end_with_ctrl_c(run)
    assert [line for line in lines if "kwire-admin → 1 " in line and "DescribeCluster v2" in line]


def test_a_view_shows_what_it_says(node: str) -> None:
    view = ["--view", "!~api ApiVersions & ~size <1MiB"]
    with proxy(*view, "--listen", f"127.0.0.1:0={node}") as (run, address):
        talk(address)
        lines, _ = end_with_ctrl_c(run)
    assert [line for line in lines if "API 9999" in line]
    assert not [line for line in lines if "ApiVersions" in line]


def test_rules_act_and_are_loaded_again_when_they_are_saved(node: str, tmp_path: Path) -> None:
    rules = tmp_path / "rules.yaml"
    rules.write_text("rules:\n  - {name: first, match: ~api ApiVersions, delay: 1ms}")
    with proxy("--rules", str(rules), "--listen", f"127.0.0.1:0={node}") as (run, address):
        talk(address)
        assert run.stderr
        rules.write_text("rules:\n  - {match: ~api Nothing, drop: true}")
        told = ""
        while "no API is called 'Nothing'" not in told:
            told += run.stderr.readline()
        assert "the filters stay as they were" in told
        rules.write_text("rules:\n  - {name: second, match: ~api ApiVersions, delay: 2ms}")
        while "the filters were loaded again" not in told:
            told += run.stderr.readline()
        talk(address)
        lines, _ = end_with_ctrl_c(run)
    notes = [line.strip() for line in lines if "·" in line]
    assert [note for note in notes if "delayed" in note] == [
        "· delayed 0.001 s by rule first",
        "· delayed 0.002 s by rule second",
    ]


def test_a_script_sees_the_traffic(node: str, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "from kwire.proxy import Filter\n"
        "class Hello(Filter):\n"
        "    def on_api_versions_request(self, request, call):\n"
        "        call.note(f'hello {request.client_software_name}')\n"
    )
    with proxy("--json", "--script", str(script), "--listen", f"127.0.0.1:0={node}") as run:
        talk(run[1])
        lines, _ = end_with_ctrl_c(run[0])
    flows = [value for value in map(json.loads, lines) if value["type"] == "flow"]
    assert [flow["notes"] for flow in flows] == [["hello x"], []]


@pytest.mark.parametrize(
    ("match", "told"),
    [
        ("~api ApiVersions", "held: ApiVersions v4 of "),
        ("~api ApiVersions & ~response", "held: the answer to ApiVersions v4 of "),
    ],
)
def test_what_is_held_goes_on_when_enter_is_pressed(node: str, match: str, told: str) -> None:
    hold = [str(KWIRE), "proxy", "--hold", match, "--listen", f"127.0.0.1:0={node}"]
    with subprocess.Popen(hold, stdin=PIPE, stdout=PIPE, stderr=PIPE, text=True) as run:
        assert run.stdin
        assert run.stderr
        found = re.match(r"listening at (.+):(\d+) in front of", run.stderr.readline())
        assert found
        with socket.create_connection((found[1], int(found[2])), timeout=PATIENCE) as client:
            client.sendall(ASKED)
            assert run.stderr.readline().startswith(told)
            client.settimeout(0.05)
            with pytest.raises(TimeoutError):
                client.recv(1)
            client.settimeout(PATIENCE)
            run.stdin.write("what\n\n")
            run.stdin.flush()
            assert client.recv(len(ANSWER), socket.MSG_WAITALL) == ANSWER
            client.sendall(UNKNOWN)
            assert client.recv(len(STRANGE), socket.MSG_WAITALL) == STRANGE
        _, err = end_with_ctrl_c(run)
    assert "'what' is no answer: press Enter" in err


WRONG_USAGE = {
    "nothing": ([], "Give --listen to run in front of a node"),
    "half of TLS": (["--listen", "a:1=b:1", "--listen-tls", "a.pem"], "takes CERT,KEY or"),
    "half of mutual TLS": (
        ["--listen", "a:1=b:1", "--upstream-tls", "a.pem,b.pem"],
        "takes CA or CA,CERT,KEY",
    ),
    "TLS of nobody": (
        ["--listen", "1@a:1=b:1", "--upstream-tls", "2@ca.pem"],
        "there is TLS for node 2, and no --listen 2@…",
    ),
    "keys without TLS": (
        ["--listen", "a:1=b:1", "--tls-keys-out", "keys.log"],
        "is for --listen-tls and --upstream-tls",
    ),
    "a name without TLS": (["--listen", "a:1=b:1", "--upstream-name", "x"], "give that as well"),
    "a file to serve without": (["--listen", "a:1=b:1", "--serve-config", "c"], "is for --serve"),
    "a file to serve that is not there": (
        ["--listen", "1@a:1=b:1", "--serve", "metadata", "--serve-config", "none"],
        "cannot read none",
    ),
    "a topic's file without": (
        ["--listen", "a:1=b:1", "--topic-config", "c"],
        "--topic-config is for --record-topic",
    ),
    "a topic's file that is not there": (
        ["--listen", "a:1=b:1", "--record-topic", "t@a:1", "--topic-config", "none"],
        "cannot read none",
    ),
    "times of what passes": (["--listen", "a:1=b:1", "--to", "+1s"], "give --read as well"),
    "one address": (["--listen", "127.0.0.1:9093"], "is no pair of addresses"),
    "no port": (["--listen", "127.0.0.1=127.0.0.1:9093"], "'127.0.0.1' is no address"),
    "no number": (["--listen", "x@127.0.0.1:1=127.0.0.1:9093"], "is no pair of addresses"),
    "no such rules": (
        ["--listen", "a:1=b:1", "--rules", "none.yaml"],
        "cannot read none.yaml: No such",
    ),
    "no such script": (["--listen", "a:1=b:1", "--script", "none.py"], "cannot read none.py"),
    "no such API": (["--listen", "a:1=b:1", "--api", "Fetsch"], "no API is called 'Fetsch'"),
    "an API both shown and not": (
        ["--listen", "a:1=b:1", "--api", "fetch", "--no-api", "Fetch"],
        "--api and --no-api both name Fetch",
    ),
    "itself": (["--listen", "127.0.0.1:19000=127.0.0.1:19000"], "connect to itself"),
    "itself by name": (["--listen", "localhost:19000=127.0.0.1:19000"], "connect to itself"),
    "itself by any address": (["--listen", "0.0.0.0:19000=localhost:19000"], "connect to itself"),
    "itself over IPv6": (["--listen", "[::]:19000=[::1]:19000"], "connect to itself"),
}


@pytest.mark.parametrize(("arguments", "sentence"), WRONG_USAGE.values(), ids=list(WRONG_USAGE))
def test_wrong_usage_is_exit_code_2(kwire: Command, arguments: list[str], sentence: str) -> None:
    run = kwire("proxy", *arguments)
    assert run.code == 2
    assert sentence in run.error


def test_an_expression_that_is_wrong_is_answered_with_the_column(kwire: Command) -> None:
    for option in ("--view", "--hold"):
        run = kwire("proxy", "--listen", "a:1=b:1", option, "~api Fetsch")
        assert run.code == 2
        assert "Error: column 6: no API is called 'Fetsch'" in run.err
        assert run.err.splitlines()[-1].index("^") == len("  ~api ")


def test_a_port_that_is_taken_is_named(kwire: Command) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        run = kwire("proxy", "--listen", f"{address}=127.0.0.1:1")
    assert run.code == 1
    assert run.error.lower() == f"cannot listen at {address}: address already in use"


def test_a_feed_is_told_and_guarded(kwire: Command, node: str, tmp_path: Path) -> None:
    with proxy("--listen", f"127.0.0.1:0={node}", "--feed", "127.0.0.1:0") as (run, address):
        assert run.stderr
        assert re.match(r"watch it: kwire watch 127\.0\.0\.1:\d+\n", run.stderr.readline())
        talk(address)
        lines, _ = end_with_ctrl_c(run)
    assert [line for line in lines if "ApiVersions v4" in line]
    empty, short = tmp_path / "token", tmp_path / "short"
    empty.touch()
    short.write_text("0123456789abcde\n")
    for wrong, said in (
        (["--feed", "9900"], "'9900' is no address"),
        (["--feed", "0.0.0.0:9900"], "give --feed-token as well"),
        (["--feed-token", "x"], "give --feed as well"),
        (["--feed", "127.0.0.1:0", "--feed-token", "none"], "cannot read none"),
        (["--feed", "127.0.0.1:0", "--feed-token", str(empty)], "is empty"),
        (
            ["--feed", "127.0.0.1:0", "--feed-token", str(short)],
            f"{short} holds a token of 15 bytes, which can be guessed",
        ),
    ):
        refused = kwire("proxy", "--listen", "a:1=b:1", *wrong)
        assert refused.code == 2
        assert said in refused.error
