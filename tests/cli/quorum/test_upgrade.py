"""`kwire quorum upgrade --plan`: the steps on a screen and as one object."""

from __future__ import annotations

import pytest

from kwire.doctor import gather
from tests.support.cli.command import Command, Run
from tests.support.doctor.controllers import controllers_beside, no_log


def upgrade(kwire: Command, *arguments: str) -> Run:
    """Run the command at three scripted controllers, whose metadata log nobody can read."""
    with controllers_beside() as scripted:
        address = scripted.quorum.addresses(0)[0]
        return kwire("quorum", "upgrade", *arguments, "--bootstrap-controller", address)


@pytest.fixture(autouse=True)
def _no_wait_for_the_log(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gather, "_observe", no_log)


def test_it_only_plans_and_says_so(kwire: Command) -> None:
    run = upgrade(kwire)
    assert run.code == 2
    assert "add --plan" in run.err


def test_each_step_has_a_number_a_state_and_a_sentence(kwire: Command) -> None:
    run = upgrade(kwire, "--plan")
    assert run.out.startswith("1  ")
    assert [line[0] for line in run.out.splitlines() if line[0] != " "][-1] == "5"


def test_the_object_has_the_steps_with_their_evidence(kwire: Command) -> None:
    run = upgrade(kwire, "--plan", "-o", "json")
    first = run.json["steps"][0]
    assert set(first) == {"step", "node", "state", "sentence", "evidence", "command"}
    assert len(run.json["clusterIds"]) == 1


def test_a_cluster_that_does_not_answer_fails_and_names_no_next_step(kwire: Command) -> None:
    run = kwire("quorum", "upgrade", "--plan", "--bootstrap-controller", "127.0.0.1:1", "--json")
    states = {step["state"] for step in run.json["steps"]}
    assert states <= {"unknown", "later"}
    assert run.code == 1
