"""`kwire conform`: its output, its files, its exit codes, what it refuses, how it is stopped."""

import json
import os
import re
import signal
import socket
import socketserver
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from threading import Thread
from xml.etree.ElementTree import parse

import pytest

from tests.support.cli.command import KWIRE, Command
from tests.support.cli.scripted_cluster import scripted_cluster

FIRST = "start/server/1"


@pytest.fixture
def node() -> Iterator[str]:
    """The address of a scripted broker."""
    with scripted_cluster() as brokers:
        yield brokers.addresses[0]


def test_a_server_that_is_as_it_should_be(kwire: Command, node: str) -> None:
    run = kwire("conform", node, FIRST)
    assert run.code == 0, run.err
    assert run.out.startswith(f"{node}: ")
    assert "start/server  1 PASS" in run.out
    assert re.search(r"^1 check in \d+\.\d s: 1 PASS$", run.out, re.MULTILINE)


def test_a_run_in_which_every_check_was_skipped_has_not_succeeded(
    kwire: Command, node: str
) -> None:
    run = kwire("conform", node, "transactions/partitions")
    assert re.search(r" SKIPPED", run.out)
    assert run.err == "Nothing was checked: every check was skipped.\n"
    assert run.code == 1


class Greeter(socketserver.BaseRequestHandler):
    """Says what servers of SSH say first."""

    def handle(self) -> None:
        with suppress(ConnectionError):
            self.request.sendall(b"SSH-2.0-OpenSSH_9.2\r\n")
            while self.request.recv(1024):
                pass


def test_a_port_of_something_else_is_one_failure_and_no_list_of_what_was_not_run(
    kwire: Command,
) -> None:
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Greeter) as server:
        Thread(target=server.serve_forever).start()
        run = kwire("conform", f"127.0.0.1:{server.server_address[1]}")
        server.shutdown()
    assert run.code == 1
    assert "SSH, not Kafka's protocol" in run.out
    assert "versions/kip-511    " not in run.out
    assert re.search(r"^ *\d+ SKIPPED .*versions/kip-35/1", run.out, re.MULTILINE)


def test_the_list_has_sentences_and_sources(kwire: Command) -> None:
    run = kwire("conform", "--list", "versions/kip-511", "--json")
    rows = run.json["checks"]
    assert rows[0]["id"] == "versions/kip-511/1"
    assert rows[0]["source"].startswith("KIP-511")
    assert all(row["sentence"].endswith(".") for row in rows)
    assert "versions/kip-511/1" in kwire("conform", "--list").out
    heading = kwire("conform", "--list", "versions/kip-511").out.splitlines()[0]
    assert heading.split() == ["Id", "Sentence", "Source"]
    assert kwire("conform", "--list", "login").out.split()[:2] == ["Id", "Needs"]


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ([], "say which server"),
        (["versions"], "say which server"),
        (["localhost:x"], "is no address"),
        (["localhost:9092", "nonsense"], "no check is called 'nonsense'"),
        (["localhost:9092", "--destructive"], "type its id"),
        (["localhost:9092", "--cluster", "abc"], "--cluster belongs to --destructive"),
        (
            ["localhost:9092", "--destructive", "--cluster", "a", "--read-only"],
            "--destructive excludes --read-only",
        ),
        (["localhost:9092", "versions", "--hex", FIRST], "leave the others out"),
        (["localhost:9092", "--hex", "nonsense"], "no check is called 'nonsense'"),
        (["--list", "--diff", "a", "b"], "exclude each other"),
        (["--diff", "/nonexistent/a", "b"], "cannot read /nonexistent/a"),
        (["localhost:9092", "--expect", "/nonexistent"], "cannot read /nonexistent"),
    ],
)
def test_wrong_usage_is_told_before_anything_is_asked(
    kwire: Command, words: list[str], reason: str
) -> None:
    run = kwire("conform", *words)
    assert run.code == 2
    assert reason in run.error


def test_a_cluster_that_is_not_the_servers_is_not_spoilt(kwire: Command, node: str) -> None:
    run = kwire("conform", node, "--destructive", "--cluster", "somebody-elses")
    assert run.code == 1
    assert "destructive checks are not run on it" in run.error


def test_nobody_there_is_one_sentence_or_one_object(
    kwire: Command, unused_tcp_port_factory: Callable[[], int]
) -> None:
    address = f"127.0.0.1:{unused_tcp_port_factory()}"
    run = kwire("conform", address)
    assert (run.code, run.out) == (1, "")
    assert run.error == (
        f"cannot connect to {address}: Connection refused; start the node, or check the address"
    )
    assert kwire("conform", address, "--json").json["error"] == "CONNECTION_FAILED"


def test_the_files_of_a_run_and_what_is_made_of_them(
    kwire: Command, node: str, tmp_path: Path
) -> None:
    saved, junit, page = tmp_path / "a.json", tmp_path / "a.xml", tmp_path / "a.html"
    files = ["--save", str(saved), "--junit", str(junit), "--html", str(page)]
    run = kwire("conform", node, FIRST, "--json", "--name", "fixed", *files)
    assert run.code == 0, run.err
    assert run.json == json.loads(saved.read_text())
    assert run.json["name"] == "fixed"
    assert run.json["checks"][0]["bytes"][0]["sent"]
    root = parse(junit).getroot()
    assert root is not None
    assert root.attrib["tests"] == "1"
    assert "<strong>fixed</strong>" in page.read_text()

    assert kwire("conform", "--diff", str(saved), str(saved)).out == "No check differs.\n"
    other = tmp_path / "b.json"
    other.write_text(saved.read_text().replace('"PASS"', '"FAIL"'))
    differing = kwire("conform", "--diff", str(saved), str(other))
    assert (differing.code, FIRST in differing.out) == (1, True)
    again = kwire("conform", "--from", str(other))
    assert (again.code, "FAIL" in again.out) == (1, True)
    both = ["--from", str(saved), "--from", str(other)]
    assert kwire("conform", *both, "--html", str(page)).code == 0
    assert kwire("conform", *both).code == 2


@pytest.mark.parametrize("option", ["--save", "--junit", "--html"])
@pytest.mark.parametrize("server", ["127.0.0.1:1", "--client"])
def test_a_file_that_cannot_be_written_is_refused_before_the_run(
    kwire: Command, tmp_path: Path, option: str, server: str
) -> None:
    file = tmp_path / "none" / "report"
    client = ("--exec", "no-such-client {bootstrap}") if server == "--client" else ()
    run = kwire("conform", server, *client, option, str(file))
    assert (run.code, run.out) == (1, "")
    assert run.error == f"cannot write {file}: No such file or directory."


def test_a_run_that_does_not_begin_leaves_files_as_they_are(kwire: Command, tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    old.write_text("old")
    run = kwire("conform", "127.0.0.1:1", "--save", str(old), "--html", str(new))
    assert "cannot connect" in run.error
    assert (old.read_text(), new.exists()) == ("old", False)


def test_expectations_decide_about_the_exit_code(kwire: Command, node: str, tmp_path: Path) -> None:
    file = tmp_path / "expected.yaml"
    file.write_text(f"server: fixed\nchecks: {{{FIRST}: {{verdict: FAIL, why: it is old}}}}")
    run = kwire("conform", node, FIRST, "--expect", str(file))
    assert run.code == 1
    assert "unexpected FAIL expected: it is old" in run.out
    assert f"Not as expected of fixed: {FIRST}" in run.out
    assert "not part of this run" not in run.out
    more = "pairs/answers/1/Fetch-v12: {verdict: FAIL, why: it is old}"
    file.write_text(f"server: fixed\nchecks: {{{more}}}")
    run = kwire("conform", node, FIRST, "--expect", str(file))
    assert run.code == 0
    assert "All as expected of fixed.\n1 check of the expectations was not part of" in run.out


def test_the_bytes_of_a_check_are_decoded(kwire: Command, node: str) -> None:
    run = kwire("conform", node, "--hex", FIRST)
    assert run.code == 0, run.err
    assert re.search(r"^\d+ bytes to ", run.out, re.MULTILINE)
    assert "ApiVersionsRequest v0" in run.out
    assert "00000000: 0000 00" in run.out
    again = re.search(r"again: kwire (decode .*)", run.out)
    assert again is not None
    assert "ApiVersionsResponse v0" in kwire(*again[1].split()).out
    again = re.search(r"again: kwire (request --raw .*)", run.out)
    assert again is not None
    assert "ApiVersionsResponse v0" in kwire(*again[1].split()).out


@pytest.mark.skipif(os.name == "nt", reason="signals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_run_is_stopped_without_a_traceback(number: signal.Signals) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent, ExitStack() as connections:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        run = subprocess.Popen(
            [KWIRE, "conform", address], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        silent.settimeout(60)
        asked = b""
        while not asked:  # the first connection only looks if somebody is there
            asked = connections.enter_context(silent.accept()[0]).recv(1)
        run.send_signal(number)
        _, err = run.communicate(timeout=60)
    assert run.returncode == 130
    assert "Traceback" not in err
