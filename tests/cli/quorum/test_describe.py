"""`kwire quorum status` and `replication` print the words and values of kafka-metadata-quorum."""

import json
import re

import pytest

from kwire.cli.quorum.screen import _ago
from real_kafka import Cluster, Layout, free_port
from tests.support.cli.command import Command
from tests.support.cli.quorum_tool import java, java_status
from tests.support.eventually import eventually_blocking
from tests.support.real_kafka.own_cluster import OwnCluster


def settled(status: dict[str, object]) -> dict[str, object]:
    """Return the fields that do not change from one moment to the next."""
    moving = ("highWatermark", "maxFollowerLag", "maxFollowerLagTimeMs")
    return {name: value for name, value in status.items() if name not in moving}


@pytest.fixture(params=["--bootstrap-controller", "--bootstrap-server"])
def at(request: pytest.FixtureRequest, quorum: Cluster) -> list[str]:
    """The cluster's controllers, then its broker."""
    controllers = request.param == "--bootstrap-controller"
    return [
        request.param,
        quorum.bootstrap_controllers if controllers else quorum.bootstrap_servers,
    ]


def test_status_has_the_fields_and_the_values_of_kafkas_tool(
    kwire: Command, quorum: Cluster, at: list[str]
) -> None:
    ours, theirs = eventually_blocking(
        lambda: (kwire("quorum", "status", *at, "--json").json, java_status(quorum)),
        lambda told: settled(told[0]) == settled(told[1]),
    )
    assert list(ours) == list(theirs)
    assert ours["highWatermark"] > 0


def test_status_for_people_has_the_same_names(
    kwire: Command, quorum: Cluster, at: list[str]
) -> None:
    out = kwire("quorum", "status", *at).out
    names = [line.split(":")[0] for line in java(quorum, "describe", "--status").splitlines()]
    assert list(re.findall(r"^(\w+):", out, re.MULTILINE)) == names
    for controller in quorum.controllers.values():
        assert f"CONTROLLER://{controller.controller_address}" in out
        assert controller.directory_id in out


def test_replication_is_the_table_of_kafkas_tool(
    kwire: Command, quorum: Cluster, at: list[str]
) -> None:
    ours = [
        line.split()
        for line in kwire("quorum", "replication", *at, "--no-human-readable").out.splitlines()
    ]
    told = java(quorum, "describe", "--replication")
    theirs = [line.split() for line in told.splitlines()]
    assert ours[0] == theirs[0]
    same = [theirs[0].index(name) for name in ("NodeId", "DirectoryId", "Status")]
    assert [[row[i] for i in same] for row in ours] == [[row[i] for i in same] for row in theirs]
    assert ours[1][-1] == "Leader"


def test_times_can_be_read_by_people(kwire: Command, quorum: Cluster, at: list[str]) -> None:
    rows = kwire("quorum", "replication", *at).out.splitlines()[1:]
    assert all(len(re.findall(r"[\d.]+ (ms|s) ago", row)) == 2 for row in rows)


@pytest.mark.parametrize(
    ("milliseconds", "text"),
    [(12, "12 ms"), (999, "999 ms"), (3400, "3.4 s"), (90_000, "1.5 min"), (7_200_000, "2.0 h")],
)
def test_long_times_are_told_in_larger_units(milliseconds: int, text: str) -> None:
    assert _ago(1_000_000, 1_000_000 + milliseconds) == f"{text} ago"


def test_replication_as_json_has_kafkas_names(
    kwire: Command, quorum: Cluster, at: list[str]
) -> None:
    rows = kwire("quorum", "replication", *at, "--json").json["replicas"]
    assert {name[0].upper() + name[1:] for name in rows[0]} == set(
        java(quorum, "describe", "--replication").splitlines()[0].split()
    )
    assert {row["nodeId"] for row in rows} == {3000, 3001, 3002, 1}


def test_static_voters_of_3_9_are_shown_as_kafkas_tool_shows_them(
    kwire: Command, kafka391: Cluster
) -> None:
    """Without a directory id our JSON has null, and Java's tool leaves the name out."""
    at = ("--bootstrap-controller", kafka391.bootstrap_controllers)
    ours = settled(kwire("quorum", "status", *at, "--json").json)
    told = json.dumps(ours).replace('"directoryId": null, ', "")
    assert json.loads(told) == settled(java_status(kafka391))


WRONG_USAGE = {
    "no address": (["status"], "give --bootstrap-server, --bootstrap-controller or --profile"),
    "two": (
        ["status", "--bootstrap-server", "a:1", "--bootstrap-controller", "b:1"],
        "give --bootstrap-server or --bootstrap-controller, not both",
    ),
    "no port": (["status", "--bootstrap-server", "localhost"], "'localhost' is no address"),
    "port of letters": (["replication", "--bootstrap-server", "a:b"], "'a:b' is no address"),
    "no time": (["status", "--bootstrap-server", "a:1", "--timeout", "0"], "'--timeout'"),
}


@pytest.mark.parametrize(("arguments", "sentence"), WRONG_USAGE.values(), ids=list(WRONG_USAGE))
def test_wrong_usage_is_exit_code_2(kwire: Command, arguments: list[str], sentence: str) -> None:
    run = kwire("quorum", *arguments)
    assert run.code == 2
    assert sentence in run.error


def test_a_port_where_nothing_listens_is_named(kwire: Command) -> None:
    address = f"127.0.0.1:{free_port()}"
    run = kwire("quorum", "status", "--bootstrap-controller", address)
    assert run.code == 1
    assert address in run.error


def test_a_broker_given_as_controller_and_the_reverse_are_told(
    kwire: Command, quorum: Cluster
) -> None:
    at_broker = kwire("quorum", "status", "--bootstrap-controller", quorum.bootstrap_servers)
    at_controller = kwire("quorum", "status", "--bootstrap-server", quorum.bootstrap_controllers)
    assert (at_broker.code, at_controller.code) == (1, 1)
    assert "is a broker, not a controller" in at_broker.error
    assert "is a controller, not a broker" in at_controller.error


def test_without_a_majority_the_answer_comes_quickly_and_says_so(
    kwire: Command, own_cluster: OwnCluster
) -> None:
    with own_cluster(Layout(controllers=(3000, 3001, 3002))) as cluster:
        at = ("--bootstrap-controller", cluster.bootstrap_controllers)
        status = eventually_blocking(
            lambda: kwire("quorum", "status", *at, "--json"), lambda run: run.code == 0
        ).json
        followers = {3000, 3001, 3002} - {status["leaderId"]}
        for node_id in (status["leaderId"], followers.pop()):
            cluster.nodes[node_id].kill()
        run = kwire("quorum", "status", *at)
        assert run.code == 1
        assert "no reachable leader" in run.error
