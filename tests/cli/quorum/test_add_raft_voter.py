"""`kwire quorum add-controller` changes voters, and words it, as kafka-metadata-quorum does."""

from collections.abc import Iterator

import pytest

from real_kafka import Cluster, Layout, RunningNode
from tests.support.cli.command import Command
from tests.support.cli.quorum_tool import changed, voters
from tests.support.eventually import eventually_blocking
from tests.support.real_kafka.own_cluster import OwnCluster

WRONG_USAGE = {
    "no id": (["add-controller", "--bootstrap-server", "a:1"], "give the ID of the controller"),
    "no endpoint": (
        ["add-controller", "1", "--bootstrap-server", "a:1", "--endpoint", "localhost:1"],
        "write NAME://HOST:PORT",
    ),
    "no port in an endpoint": (
        ["add-controller", "1", "--bootstrap-server", "a:1", "--endpoint", "X://localhost"],
        "'localhost' is no address",
    ),
}


@pytest.mark.parametrize(("arguments", "sentence"), WRONG_USAGE.values(), ids=list(WRONG_USAGE))
def test_wrong_usage_is_exit_code_2(kwire: Command, arguments: list[str], sentence: str) -> None:
    run = kwire("quorum", *arguments)
    assert run.code == 2
    assert sentence in run.error


@pytest.fixture
def joining(own_cluster: OwnCluster) -> Iterator[tuple[Cluster, RunningNode]]:
    """A quorum of three and a fourth controller that follows it."""
    with own_cluster(Layout.quorum()) as cluster:
        yield cluster, cluster.join_controller(3003)


@pytest.mark.nightly
def test_voters_are_added_and_removed_as_kafkas_tool_sees_it(
    kwire: Command, joining: tuple[Cluster, RunningNode]
) -> None:
    cluster, node = joining
    controllers = ("--bootstrap-controller", cluster.bootstrap_controllers)
    brokers = ("--bootstrap-server", cluster.bootstrap_servers)
    told = f"3003 with directory id {node.directory_id} and endpoints: CONTROLLER://{node.address}"

    dry = eventually_blocking(
        lambda: kwire("quorum", "add-controller", "3003", *brokers, "--dry-run"),
        lambda run: "no controller 3003 is registered" not in run.out,
    )
    assert dry.code == 0, dry.out
    assert dry.out.splitlines()[0] == f"DRY RUN of adding controller {told}"
    assert voters(cluster) == {3000, 3001, 3002}

    added = changed(kwire, "add-controller", "3003", *brokers)
    assert (added.code, added.out) == (0, f"Added controller {told}\n"), added.err
    assert voters(cluster) == {3000, 3001, 3002, 3003}

    again = kwire("quorum", "add-controller", "3003", *controllers)
    assert again.code == 1
    assert "is a voter already" in again.error
    forced = changed(kwire, "add-controller", "3003", *controllers, "--force")
    assert forced.error.startswith("DUPLICATE_VOTER: ")
    assert kwire("quorum", "add-controller", "3003", *controllers, "--dry-run").code == 1

    wrong = ("--directory-id", "AAAAAAAAQACAAAAAAAAwAA")
    assert kwire("quorum", "remove-controller", "3003", "--yes", *controllers, *wrong).code == 1
    forced = changed(kwire, "remove-controller", "3003", "--yes", *controllers, *wrong, "--force")
    assert forced.error.startswith("VOTER_NOT_FOUND: ")

    removed = changed(kwire, "remove-controller", "3003", "--yes", *controllers, "--json")
    assert removed.json["done"] is True
    assert removed.json["directoryId"] == node.directory_id
    assert voters(cluster) == {3000, 3001, 3002}

    unknown = kwire("quorum", "remove-controller", "3003", "--yes", *controllers)
    assert "controller 3003 is no voter; the voters are 300" in unknown.error
