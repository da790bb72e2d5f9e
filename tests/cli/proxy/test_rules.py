"""`kwire proxy rules` changes the rules of proxies and services while traffic flows."""

import asyncio
import queue
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from kwire.messages.a60_describe_cluster import DescribeClusterRequest, DescribeClusterResponse
from kwire.net.connection import Connection
from kwire.proxy.feed.receiver import Receiver
from real_kafka import Cluster, free_port
from tests.support.cli.command import Command
from tests.support.cli.proxy_process import ANSWER, ASKED, PATIENCE, end_with_ctrl_c, proxy
from tests.support.cli.service_process import GatedNode, listener, running, service, write

CLOSE = ["--match", "~api ApiVersions", "--close"]


def is_answered(address: tuple[str, int]) -> bool:
    """Send a request; False if its connection is closed instead."""
    with socket.create_connection(address, timeout=PATIENCE) as client, suppress(OSError):
        client.sendall(ASKED)
        return client.recv(len(ANSWER), socket.MSG_WAITALL) == ANSWER
    return False


def test_rules_are_added_listed_switched_and_removed(
    kwire: Command, node: str, tmp_path: Path
) -> None:
    file, token, feed = tmp_path / "rules.yaml", tmp_path / "token", f"127.0.0.1:{free_port()}"
    file.write_text("rules: [{name: slow, match: ~api Fetch, delay: 1s}]")
    token.write_text("0123456789abcdef")
    to = ["--feed", feed, "--token", str(token)]
    more = ["--rules", str(file), "--feed", feed, "--feed-token", str(token)]
    with proxy("--listen", f"127.0.0.1:0={node}", *more) as (run, address):
        assert is_answered(address)
        nth = kwire("proxy", "rules", "add", "--name", "nth", *CLOSE, "--nth", "1", *to)
        assert (nth.code, nth.out) == (0, "nth added\n")
        assert [is_answered(address) for _ in range(2)] == [False, True]
        assert kwire("proxy", "rules", "remove", "nth", *to).code == 0
        late = kwire("proxy", "rules", "add", *CLOSE, "--nth", "2", "--skip", "1", *to)
        assert "nth is skip and count in one" in late.err
        added = kwire("proxy", "rules", "add", "--name", "cut", *CLOSE, "--count", "2", *to)
        assert (added.code, added.out) == (0, "cut added\n")
        assert not is_answered(address)
        slow, cut = kwire("proxy", "rules", "list", "--json", *to).json
        assert (slow["name"], slow["origin"], slow["hits"]) == ("slow", "file", 0)
        assert cut == {
            "name": "cut",
            "enabled": True,
            "origin": "command",
            "hits": 1,
            "rule": {"match": "~api ApiVersions", "close": True, "count": 2},
        }
        assert kwire("proxy", "rules", "disable", "cut", "slow", *to).out == (
            "cut disabled\nslow disabled\n"
        )
        assert is_answered(address)
        table = kwire("proxy", "rules", "list", *to).out
        assert [line.split()[:4] for line in table.splitlines()[1:]] == [
            ["slow", "off", "file", "0"],
            ["cut", "off", "command", "1"],
        ]
        assert "~api ApiVersions: close, count 2" in table
        assert kwire("proxy", "rules", "enable", "cut", *to).code == 0
        assert not is_answered(address)
        assert is_answered(address), "the count goes on where it was"
        gone = kwire("proxy", "rules", "remove", "cut", "cut", "--json", *to)
        assert gone.code == 1
        assert [one["outcome"] for one in gone.json] == ["removed", "refused"]
        assert "no rule is called 'cut'" in gone.json[1]["problem"]
        assert [one["name"] for one in kwire("proxy", "rules", "list", "--json", *to).json] == [
            "slow"
        ]
        _, err = end_with_ctrl_c(run)
    said = [line for line in err.splitlines() if line.startswith("rule ")]
    assert [line.rpartition(" by ")[0] for line in said] == [
        "rule 'nth' was added",
        "rule 'nth' was removed",
        "rule 'cut' was added",
        "rule 'cut' was disabled",
        "rule 'slow' was disabled",
        "rule 'cut' was enabled",
        "rule 'cut' was removed",
    ]


def test_every_key_of_a_rule_can_be_given(kwire: Command, node: str) -> None:
    feed = f"127.0.0.1:{free_port()}"
    add = ["proxy", "rules", "add", "--feed", feed]
    with proxy("--listen", f"127.0.0.1:0={node}", "--feed", feed) as (run, _):
        patch = ["--patch", "topics.name=x", "--patch", "controller_id=3", "--direction=response"]
        assert kwire(*add, "--match", "~api Metadata", *patch).code == 0
        spread = ["--delay", "{from: 1s, to: 3s}", "--bandwidth", "1KiB/s", "--after", "1s"]
        times = ["--until", "1m", "--probability", "0.5", "--disabled"]
        assert kwire(*add, "--match", "~api Fetch", *spread, *times).code == 0
        assert kwire(*add, "--match", "~api Vote", "--error", "41").code == 0
        assert kwire(*add, "--preset", "one-way-partition", "--from", "1", "--to", "2").code == 0
        rules = kwire("proxy", "rules", "list", "--json", "--feed", feed).json
        end_with_ctrl_c(run)
    assert [rule["rule"] for rule in rules] == [
        {
            "match": "~api Metadata",
            "direction": "response",
            "patch": {"topics.name": "x", "controller_id": 3},
        },
        {
            "match": "~api Fetch",
            "delay": {"from": "1s", "to": "3s"},
            "bandwidth": "1KiB/s",
            "probability": 0.5,
            "after": "1s",
            "until": "1m",
        },
        {"match": "~api Vote", "error": 41},
        {"match": "~from 1 & ~to 2", "stall": True},
    ]
    assert [rule["enabled"] for rule in rules] == [True, False, True, True]
    assert rules[3]["name"] == "one-way-partition-1-2"


def test_a_proxy_that_stands_still_is_no_success(kwire: Command, node: str) -> None:
    feed = f"127.0.0.1:{free_port()}"
    to = ["--feed", feed, "--timeout", "0.2"]
    with proxy("--listen", f"127.0.0.1:0={node}", "--feed", feed) as (run, _):
        assert kwire("proxy", "rules", "add", "--name", "cut", *CLOSE, "--feed", feed).code == 0
        run.send_signal(signal.SIGSTOP)
        stopped = kwire("proxy", "rules", "disable", "cut", *to)
        run.send_signal(signal.SIGCONT)
        assert (stopped.code, stopped.out) == (1, "")
        assert stopped.error.startswith(f"nothing was changed: {feed}: no answer for 0.2 s")
        (rule,) = kwire("proxy", "rules", "list", "--json", "--feed", feed).json
        assert rule["enabled"]
        end_with_ctrl_c(run)


@contextmanager
def without_commands(feed: str) -> Iterator[str]:
    """A way to a feed on which no command arrives: the proxy stands still behind the greeting."""
    host, _, port = feed.rpartition(":")
    here, there = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2))
    here.bind(("127.0.0.1", 0))
    there.connect((host, int(port)))
    clients: list[tuple[str, int]] = []
    over = threading.Event()

    def forth() -> None:
        while True:
            data, client = here.recvfrom(65536)
            clients.append(client)
            if over.is_set():
                return
            if b"_rule" not in data or b"get_rules" in data:
                with suppress(ConnectionRefusedError):  # the proxy has ended
                    there.send(data)

    def back() -> None:
        while not over.is_set():
            with suppress(ConnectionRefusedError):
                if data := there.recv(65536):
                    here.sendto(data, clients[-1])

    threads = [threading.Thread(target=one, daemon=True) for one in (forth, back)]
    for thread in threads:
        thread.start()
    yield f"127.0.0.1:{here.getsockname()[1]}"
    over.set()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as waker:
        waker.sendto(b"", here.getsockname())
    there.shutdown(socket.SHUT_RDWR)
    for thread in threads:
        thread.join(PATIENCE)
    here.close()
    there.close()


def test_without_an_answer_it_is_said_to_be_unknown(
    kwire: Command, node: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    answered = Receiver._command

    async def answered_soon(self: Receiver, command: Any) -> Any:
        self._timeout = 0.2  # the greeting before it may take longer
        return await answered(self, command)

    monkeypatch.setattr(Receiver, "_command", answered_soon)
    feed = f"127.0.0.1:{free_port()}"
    with (
        proxy("--listen", f"127.0.0.1:0={node}", "--feed", feed) as (run, _),
        without_commands(feed) as way,
    ):
        to = ["--feed", way, "--timeout", str(PATIENCE)]
        add = ["proxy", "rules", "add", "--name", "cut", *CLOSE, *to]
        run_ = kwire(*add)
        assert (run_.code, run_.out) == (1, "")
        assert run_.err.startswith("it is not known whether 'cut' was added: no answer from ")
        assert run_.err.rstrip().endswith("`kwire proxy rules list` shows what is in force")
        assert kwire(*add, "--json").json[0]["outcome"] == "unknown"
        assert kwire("proxy", "rules", "list", "--json", *to).json == []
        end_with_ctrl_c(run)


def test_a_service_is_changed_by_cluster_and_a_reload_keeps_it(
    kwire: Command, gated_node: GatedNode, tmp_path: Path
) -> None:
    at = gated_node.address
    file, rules = tmp_path / "kwire-proxy.yaml", tmp_path / "rules.yaml"
    rules.write_text("rules: [{name: cut, match: ~api ApiVersions, close: true}]")
    token = tmp_path / "token"
    token.write_text("0123456789abcdef")
    config = service(listener(at), rules=str(rules))
    config["clusters"][0]["feed"] = {"listen": f"127.0.0.1:{free_port()}", "token": str(token)}
    other = {"name": "other", "listeners": [listener(at, 7)]}
    config["clusters"].append(other | {"feed": {"listen": f"127.0.0.1:{free_port()}"}})
    with running(write(file, config)) as run:
        address = run.listening()
        run.next_event("ready")
        of = ["--config", str(file), "--cluster", "orders"]
        assert not is_answered(address)
        assert kwire("proxy", "rules", "disable", "cut", *of).code == 0
        assert run.next_event("rule 'cut' was disabled by 127.0.0.1:")["cluster"] == "orders"
        assert is_answered(address)
        assert kwire("proxy", "rules", "add", "--name", "mine", *CLOSE, *of).code == 0
        assert not is_answered(address)
        rules.write_text(rules.read_text().replace("]", ", {match: ~api Fetch, delay: 1s}]"))
        run.reload(config)
        run.next_event("the configuration was loaded again")
        found = kwire("proxy", "rules", "list", "--json", *of).json
        assert [(item["name"], item["enabled"]) for item in found] == [
            ("cut", False),
            ("delay-e5bf", True),
            ("mine", True),
        ]
        of_other = ["--config", str(file), "--cluster", "other"]
        assert kwire("proxy", "rules", "list", *of_other).out.startswith("no rules; ")
        assert run.end() == 0


def test_rules_change_what_a_connection_to_real_kafka_is_told(
    kwire: Command, combined: Cluster
) -> None:
    """A client asks all the time, on one connection; the proxy is commanded meanwhile."""
    feed = f"127.0.0.1:{free_port()}"
    to = ["--feed", feed]
    codes: queue.SimpleQueue[int] = queue.SimpleQueue()
    over = threading.Event()

    async def ask(host: str, port: int) -> None:
        async with await Connection.open(host, port) as connection:
            while not over.is_set():
                answer = await connection.send(DescribeClusterRequest())
                assert isinstance(answer, DescribeClusterResponse)
                codes.put(answer.error_code)

    def wait_for_code(code: int) -> None:
        while codes.get(timeout=PATIENCE) != code:
            pass

    listen = f"1@127.0.0.1:0={combined.bootstrap_servers}"
    with proxy("--listen", listen, *to) as (run, address):
        asking = threading.Thread(target=lambda: asyncio.run(ask(*address)))
        asking.start()
        try:
            wait_for_code(0)
            match = ["--match", "~api DescribeCluster", "--name", "no"]
            fails = ["--error", "CLUSTER_AUTHORIZATION_FAILED"]
            assert kwire("proxy", "rules", "add", *match, *fails, *to).code == 0
            wait_for_code(31)
            assert kwire("proxy", "rules", "disable", "no", *to).code == 0
            wait_for_code(0)
            assert kwire("proxy", "rules", "enable", "no", *to).code == 0
            wait_for_code(31)
            (rule,) = kwire("proxy", "rules", "list", "--json", *to).json
            assert rule["hits"] >= 2
            assert kwire("proxy", "rules", "remove", "no", *to).code == 0
            wait_for_code(0)
        finally:
            over.set()
            asking.join(PATIENCE)
        end_with_ctrl_c(run)


WRONG = {
    "a rule": (["add", "--match", "~api Vo", "--drop"], "match: column 6: no API is called 'Vo'"),
    "no effect": (["add", "--match", "~api Vote"], "the rule has no action"),
    "a patch": (["add", "--match", "~api Vote", "--patch", "x"], "write PATH=VALUE"),
    "a cluster": (["list", "--cluster", "x"], "give --config as well"),
    "two places": (["list", "--config", "x", "--feed", "a:1"], "omit --feed and --token"),
    "an address": (["list", "--feed", "a"], "'a' is no address"),
}


@pytest.mark.parametrize(("arguments", "said"), WRONG.values(), ids=list(WRONG))
def test_what_is_wrong_is_said_before_anything_is_sent(
    kwire: Command, arguments: list[str], said: str
) -> None:
    run = kwire("proxy", "rules", *arguments)
    assert run.code == 2
    assert said in run.err


def test_a_file_without_the_cluster_or_its_feed_is_refused(kwire: Command, tmp_path: Path) -> None:
    file = write(tmp_path / "kwire-proxy.yaml", service(listener("127.0.0.1:1")))
    none = kwire("proxy", "rules", "list", "--config", str(file))
    assert "cluster 'orders' has no feed: give it `feed: {listen: 127.0.0.1:9900}`" in none.err
    other = kwire("proxy", "rules", "list", "--config", str(file), "--cluster", "x")
    assert "has no cluster 'x': it has 'orders'" in other.err


def test_options_of_the_proxy_do_not_stand_before_rules(kwire: Command) -> None:
    run = kwire("proxy", "--feed", "127.0.0.1:1", "rules", "list")
    assert run.code == 2
    assert "--feed is for running a proxy" in run.err
    help_ = kwire("proxy", "rules", "add", "--help").out
    assert "kwire proxy rules add --match" in help_
