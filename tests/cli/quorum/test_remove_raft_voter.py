"""`kwire quorum remove-controller` names the consequences of removing a voter."""

import pytest

from kwire.testing import BackgroundQuorum
from real_kafka import Layout
from tests.support.cli.command import Command
from tests.support.cli.quorum_tool import changed
from tests.support.eventually import eventually_blocking
from tests.support.real_kafka.own_cluster import OwnCluster

WRONG_USAGE = {
    "id of letters": (["remove-controller", "x", "--bootstrap-server", "a:1"], "valid int"),
    "no directory id": (
        ["remove-controller", "1", "--bootstrap-server", "a:1", "--directory-id", "zz"],
        "'zz' is no id",
    ),
}


@pytest.mark.parametrize(("arguments", "sentence"), WRONG_USAGE.values(), ids=list(WRONG_USAGE))
def test_wrong_usage_is_exit_code_2(kwire: Command, arguments: list[str], sentence: str) -> None:
    run = kwire("quorum", *arguments)
    assert run.code == 2
    assert sentence in run.error


@pytest.mark.nightly
def test_removing_the_leader_warns_and_another_one_leads(
    kwire: Command, own_cluster: OwnCluster
) -> None:
    with own_cluster(Layout.quorum()) as cluster:
        at = ("--bootstrap-controller", cluster.bootstrap_controllers)
        leader = kwire("quorum", "status", *at, "--json").json["leaderId"]
        removed = changed(kwire, "remove-controller", str(leader), "--yes", *at)
        assert removed.code == 0, removed.err
        assert f"Warning: controller {leader} leads: it resigns" in removed.err
        after = eventually_blocking(
            lambda: kwire("quorum", "status", *at, "--json").json,
            lambda told: leader in {one["id"] for one in told["currentObservers"]},
        )
        assert after["leaderId"] != leader


def test_a_dry_run_says_that_no_failure_is_tolerated_afterwards(kwire: Command) -> None:
    with BackgroundQuorum(3) as quorum:
        other = 3000 if quorum.wait_for_leader() != 3000 else 3001
        at = ("--bootstrap-controller", quorum.bootstrap_controllers)
        dry = kwire("quorum", "remove-controller", str(other), "--dry-run", *at)
    assert dry.code == 0, dry.err
    assert "ok      2 of 2 voters would fetch" in dry.out
    assert "warning no failure is tolerated afterwards: 2 of 2" in dry.out
