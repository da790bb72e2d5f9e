"""`kwire quorum check`: a probe whose exit code is the answer."""

from __future__ import annotations

from tests.support.cli.command import Command, Run
from tests.support.doctor.controllers import controllers_beside


def check(kwire: Command, *arguments: str, leader_ids: dict[int, int] | None = None) -> Run:
    """Run the command at controller 1 of three, of which 0 leads."""
    with controllers_beside() as scripted:
        scripted.leader_ids = leader_ids or {}
        address = scripted.quorum.addresses(1)[0]
        return kwire("quorum", "check", *arguments, "--bootstrap-controller", address)


def test_a_follower_is_well(kwire: Command) -> None:
    run = check(kwire, "--node", "1")
    assert run.out.startswith("check/follows  ok       1: follows 0 in epoch 7")
    assert run.code == 0


def test_a_follower_of_nobody_fails_the_probe(kwire: Command) -> None:
    run = check(kwire, "--node", "1", leader_ids={1: -1})
    assert run.out.startswith(
        "check/follows-nobody  PROBLEM  1: answers, follows nobody in epoch 7"
    )
    assert run.code == 1


def test_a_node_that_nobody_knows_fails_the_probe(kwire: Command) -> None:
    run = check(kwire, "--node", "8", "--json")
    (finding,) = run.json["findings"]
    assert finding["id"] == "check/no-answer"
    assert run.code == 1


def test_another_node_than_the_bootstrap_is_found(kwire: Command) -> None:
    assert check(kwire, "--node", "2").out.startswith("check/follows  ok       2: follows 0")


def test_without_asks_the_leader_for_the_others(kwire: Command) -> None:
    # The scripted leader tells no times: nobody counts as caught up.
    run = check(kwire, "--without", "1")
    assert run.out.startswith("check/not-safe-to-restart  PROBLEM  without 1: 0 of 3 voters")
    assert run.code == 1


def test_without_options_it_asks_for_a_leader_with_a_majority(kwire: Command) -> None:
    run = check(kwire)
    assert run.out.startswith("check/leads-without-majority  PROBLEM  0: leads in epoch 7")
    assert run.code == 1
