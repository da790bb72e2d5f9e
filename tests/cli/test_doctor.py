"""`kwire doctor`: what it prints, how it ends, and its page of documentation."""

from __future__ import annotations

import re

import pytest

from kwire.doctor import gather
from kwire.doctor.examine import KINDS
from kwire.doctor.quorum_check import CHECK_KINDS
from tests.support.cli.command import Command
from tests.support.doctor.controllers import controllers_beside, no_log
from tests.support.doctor.page import PAGE, page


def test_findings_come_with_what_they_rest_on_and_what_to_do(kwire: Command) -> None:
    with controllers_beside() as scripted:
        scripted.leader_ids = {1: -1}
        run = kwire(
            "doctor",
            "--bootstrap-controller",
            scripted.quorum.addresses(2)[0],
            "--only",
            "quorum/follows-nobody,security",  # not the level of kraft.version that nobody tells
        )
    first, second, third, *_, last = run.out.splitlines()
    assert first == (
        "quorum/follows-nobody  PROBLEM  controller 1 answers, but follows nobody; 0 leads"
    )
    assert second.strip() == "- controller 1 knows no leader in epoch 7"
    assert third.strip().startswith("> read the log of controller 1; ")
    assert last == "1 problem"
    assert run.code == 1


def test_a_fix_plan_is_a_script_in_which_only_what_is_safe_to_run_is_no_comment(
    kwire: Command,
) -> None:
    with controllers_beside() as scripted:
        scripted.leader_ids = {1: -1}
        at = scripted.quorum.addresses(2)[0]
        asked = ("--bootstrap-controller", at, "--only", "quorum/follows-nobody,voters")
        run = kwire("doctor", "--fix-plan", *asked)
        rows = kwire("doctor", "--fix-plan", "-o", "json", *asked).json["steps"]
    first, by_hand, command, *_ = run.out.splitlines()
    assert first.startswith("# quorum/follows-nobody: controller 1 answers, but follows nobody")
    assert by_hand.startswith("#   read the log of controller 1; check that it reaches")
    assert command == f"kwire quorum check --node 1 --bootstrap-controller {at}"
    runs = [line for line in run.out.splitlines() if not line.startswith("#")]
    assert runs == [row["step"] for row in rows if row["isCommand"] and row["when"] is None]
    assert run.code == 1


def test_json_is_one_object_with_all_of_it(kwire: Command) -> None:
    with controllers_beside() as scripted:
        address = scripted.quorum.addresses(0)[0]
        run = kwire(
            "doctor", "--bootstrap-controller", address, "--json", "--only", "identity,voters"
        )
    document = run.json
    assert document["clusterIds"] == ["scripted"]
    counts = [document[name] for name in ("problems", "warnings", "unknowns")]
    assert counts == [0, 0, 1]  # scripted controllers do not tell kraft.version
    (identity, _) = document["findings"]
    assert identity == {
        "id": "identity/ok",
        "verdict": "ok",
        "sentence": "the cluster id is scripted",
        "evidence": [],
        "advice": None,
        "source": None,
    }
    assert run.code == 0


def test_without_an_answer_it_ends_with_a_problem_and_not_with_an_error(kwire: Command) -> None:
    run = kwire("doctor", "--bootstrap-controller", "127.0.0.1:1")
    assert run.out.startswith("nodes/none-answer  PROBLEM  no node answers")
    assert (run.code, run.err) == (1, "")


@pytest.mark.parametrize("only", ["security", "partitions,quorum/ok", "voters/static"])
def test_a_selection_of_a_cluster_that_does_not_answer_fails(kwire: Command, only: str) -> None:
    run = kwire("doctor", "--bootstrap-controller", "127.0.0.1:1", "--only", only)
    assert run.out.startswith("nodes/none-answer  PROBLEM  no node answers")
    assert run.out.splitlines()[-1] == "1 problem, 1 unknown"
    assert run.code == 1
    counted = kwire(
        "doctor", "--bootstrap-controller", "127.0.0.1:1", "--only", only, "--json"
    ).json
    assert (counted["problems"], counted["unknowns"]) == (1, 1)


def test_a_subject_that_could_not_be_checked_fails_though_there_is_no_problem(
    kwire: Command,
) -> None:
    with controllers_beside(1) as scripted:
        scripted.quorum.voters = set()
        run = kwire(
            "doctor", "--bootstrap-controller", scripted.quorum.addresses(0)[0], "--only", "quorum"
        )
    assert run.out.startswith("nodes/not-checked  unknown  not checked for want of answers: quorum")
    assert run.code == 1


def test_a_peer_cannot_command_the_terminal(
    kwire: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gather, "_observe", no_log)
    with controllers_beside(1) as scripted:
        scripted.configs = {
            "controller.listener.names": "C",
            "listener.security.protocol.map": "C:\x1b[2J\x07",
        }
        address = scripted.quorum.addresses(0)[0]
        run = kwire("doctor", "--bootstrap-controller", address)
    assert "x1b[2J" in run.out
    assert "\x1b" not in run.out
    assert "\x07" not in run.out


def test_the_list_needs_no_cluster(kwire: Command) -> None:
    run = kwire("doctor", "--list", "-o", "name")
    assert run.out.split() == [kind.id for kind in KINDS]


@pytest.mark.parametrize("arguments", [["--list"], ["--bootstrap-controller", "127.0.0.1:1"]])
def test_an_unknown_check_is_wrong_usage(kwire: Command, arguments: list[str]) -> None:
    run = kwire("doctor", "--only", "quorums", *arguments)
    assert run.code == 2
    assert "'quorums' is no check" in run.err


ADVICE = " ".join(kind.advice for kind in (*KINDS, *CHECK_KINDS))
COMMANDS = sorted(set(re.findall(r"kwire [a-z]+ [a-z]+(?:-[a-z]+)?", ADVICE)))


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_in_an_advice_exists(kwire: Command, command: str) -> None:
    _, *words = command.split()
    if words[0] == "doctor":
        words = words[:1]
    run = kwire(*words, "--help")
    assert run.code == 0
    assert run.out.startswith(f"Usage: kwire {' '.join(words)} ")


def test_the_page_has_every_finding_in_todays_words() -> None:
    assert PAGE.read_text() == page(), "run `python -m tests.support.doctor.page`"


def test_a_job_can_fail_at_a_warning_and_at_what_is_unknown(kwire: Command) -> None:
    with controllers_beside() as scripted:
        at = ("--bootstrap-controller", scripted.quorum.addresses(0)[0])
        warned = (*at, "--only", "quorum/voter-lags")
        unknown = (*at, "--only", "voters")  # scripted controllers do not tell kraft.version
        asked = [
            (*given, *options)
            for given in (warned, unknown)
            for options in ((), ("--fail-on", "warning"), ("--fail-on", "warning", "--fix-plan"))
        ]
        ends = [kwire("doctor", *words).code for words in asked]
        fine = kwire("doctor", *at, "--only", "identity", "--fail-on", "warning")
    assert ends == [0, 1, 1, 0, 1, 1]
    assert fine.code == 0
