"""`kwire proxy --serve`: who answered is shown, printed as JSON, and recorded."""

from __future__ import annotations

import json
import re
import signal
import subprocess
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from subprocess import PIPE
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from kwire.testing.background import BackgroundQuorum
from real_kafka import Cluster
from tests.support.cli.command import KWIRE, Command

if TYPE_CHECKING:
    from kafka.admin import ACLFilter


LISTENING = re.compile(r"listening at (\S+) in front of \S+ of node (\d+)")


def listens(cluster: Cluster) -> list[str]:
    return [
        f"--listen={id}@127.0.0.1:0={node.controller_address}"
        for id, node in cluster.controllers.items()
    ]


@contextmanager
def proxy(
    *arguments: str, nodes: set[int]
) -> Iterator[tuple[subprocess.Popen[str], dict[int, str]]]:
    """The command as a process, and where it listens for these nodes."""
    with subprocess.Popen([KWIRE, "proxy", *arguments], stdout=PIPE, stderr=PIPE, text=True) as run:
        try:
            found: dict[int, str] = {}
            while found.keys() < nodes:
                assert run.stderr
                line = run.stderr.readline()
                assert line, "it ended"
                if match := LISTENING.match(line):
                    found[int(match[2])] = match[1]
            yield run, found
        finally:
            if run.poll() is None:
                run.kill()


def ended(run: subprocess.Popen[str]) -> list[str]:
    run.send_signal(signal.SIGINT)
    out, _ = run.communicate(timeout=60)
    return out.splitlines()


def use(bootstrap: str) -> None:
    """Make a topic, and take it away."""
    from kafka.admin import KafkaAdminClient, NewTopic

    topic = f"served-{uuid4()}"
    admin = KafkaAdminClient(bootstrap_servers=bootstrap)
    admin.create_topics([NewTopic(topic, 1, 1)])
    admin.delete_topics([topic])
    admin.close()


def test_every_flow_says_who_answered(quorum: Cluster, tmp_path: Path, kwire: Command) -> None:
    capture = tmp_path / "served.avro"
    arguments = ["--serve=metadata", "--json", "-w", str(capture), *listens(quorum)]
    with proxy(*arguments, nodes={1, 3000, 3001, 3002}) as (run, addresses):
        use(",".join(addresses.values()))
        flows = [value for line in ended(run) if (value := json.loads(line))["type"] == "flow"]
    handling = defaultdict(set)
    for flow in flows:
        handling[flow["api"]].add(flow["handling"])
    assert handling["ApiVersions"] == handling["Metadata"] == {"answered"}
    assert handling["CreateTopics"] == handling["DeleteTopics"] == {"routed"}

    recorded = kwire("proxy", "-r", str(capture), "--json")
    found = [value for line in recorded.out.splitlines() if (value := json.loads(line))]
    again = {(flow["api"], flow["handling"]) for flow in found if flow["type"] == "flow"}
    assert again == {(api, one) for api, every in handling.items() for one in every}
    shown = kwire("proxy", "-r", str(capture)).out
    assert re.search(r"· routed to node 300\d", shown)
    assert "· answered by the metadata service" in shown


def test_on_a_screen_passed_flows_say_so_too(quorum: Cluster) -> None:
    from kafka.admin import KafkaAdminClient
    from kafka.errors import KafkaError

    with proxy("--serve=metadata", *listens(quorum), nodes={1, 3000, 3001, 3002}) as (run, found):
        admin = KafkaAdminClient(bootstrap_servers=found[3000])
        with suppress(KafkaError):  # there is no authorizer
            admin.describe_acls(acl_filter())
        admin.close()
        lines = ended(run)
    assert any(re.search(r"Metadata v\d+ +answered ", line) for line in lines)
    assert any(re.search(r"DescribeAcls v\d+ +passed ", line) for line in lines)


def acl_filter() -> ACLFilter:
    from kafka.admin import (
        ACLFilter,
        ACLOperation,
        ACLPermissionType,
        ACLResourcePatternType,
        ResourcePatternFilter,
        ResourceType,
    )

    pattern = ResourcePatternFilter(ResourceType.TOPIC, "x", ACLResourcePatternType.LITERAL)
    return ACLFilter(None, None, ACLOperation.ANY, ACLPermissionType.ANY, pattern)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["--listen=127.0.0.1:0=127.0.0.1:1"], "--serve knows nodes by their ids"),
        (["--listen=1@0.0.0.0:0=127.0.0.1:1"], "give --advertised-host as well"),
        (
            ["--listen=1@127.0.0.1:0=127.0.0.1:1", "--rewrite-endpoints"],
            "omit --rewrite-endpoints",
        ),
    ],
)
def test_what_cannot_be_served_is_said(kwire: Command, arguments: list[str], error: str) -> None:
    run = kwire("proxy", "--serve=metadata", *arguments)
    assert run.code == 2
    assert error in run.err


def test_what_is_simulated_is_loud(kwire: Command, tmp_path: Path) -> None:
    capture = tmp_path / "simulated.avro"
    with BackgroundQuorum(1) as quorum:
        listen = f"--listen=3000@127.0.0.1:0={quorum.bootstrap_controllers}"
        arguments = ["--serve=controller", "--json", "-w", str(capture), listen]
        with proxy(*arguments, nodes={3000}) as (run, found):
            assert run.stderr
            assert run.stderr.readline().startswith("SIMULATED: ")
            told = kwire("quorum", "status", "--bootstrap-controller", found[3000])
            assert told.code == 0, told.err
            lines = [json.loads(line) for line in ended(run)]
    handling = {one["api"]: one["handling"] for one in lines if one["type"] == "flow"}
    assert handling["DescribeQuorum"] == "simulated"
    assert handling["DescribeCluster"] == "answered"
    shown = kwire("proxy", "-r", str(capture)).out
    assert "SIMULATED: the cluster knows nothing of this" in shown


def test_what_is_simulated_stays_on_this_machine(kwire: Command) -> None:
    listen = "--listen=3000@192.0.2.1:19093=127.0.0.1:9093"
    run = kwire("proxy", "--serve=controller", listen)
    assert run.code == 2
    assert "give --off-loopback as well" in run.err
    assert "--off-loopback" in kwire("proxy", "--help").out
