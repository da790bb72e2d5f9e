"""`kwire conform --explain ID` and `--kip NUMBER`."""

import re
from pathlib import Path

import pytest

from tests.support.cli.command import Command


def test_a_check_is_explained_with_bytes_of_kafka(kwire: Command) -> None:
    run = kwire("conform", "--explain", "versions/kip-511/1")
    assert run.code == 0, run.err
    assert "  class      specification: a server that does otherwise FAILs\n" in run.out
    assert "  since      2.4\n" in run.out
    assert "https://cwiki.apache.org/confluence/display/KAFKA/KIP-511%3A" in run.out
    assert "3.6.2 broker PASS" in run.out
    assert "versions/kip-511/1 at a Kafka 4.3.1 broker: PASS" in run.out
    assert "error_code: 35 UNSUPPORTED_VERSION" in run.out
    again = re.findall(r"again: kwire request --raw [0-9a-f]+ HOST:PORT", run.out)
    assert len(again) == 1


def test_a_member_of_a_family_is_explained(kwire: Command) -> None:
    run = kwire("conform", "--explain", "pairs/answers/1/Fetch-v12")
    assert "pairs/answers/1/Fetch-v12 at a Kafka 4.3.1 broker: PASS" in run.out
    assert "FetchResponse v12" in run.out


def test_a_habit_is_said_to_be_one(kwire: Command) -> None:
    run = kwire("conform", "--explain", "topics/create/1")
    assert "java: only Apache Kafka's code" in run.out
    assert "since      3.6.2 or before" in run.out


def test_a_check_that_was_not_run_says_why(kwire: Command) -> None:
    run = kwire("conform", "--explain", "security/plain/5")
    assert "No run of Kafka 4.3.1 with this check is recorded: it needs" in run.out


@pytest.mark.parametrize("options", [("--client",), ()])
def test_a_case_for_clients_is_explained(kwire: Command, options: tuple[str, ...]) -> None:
    run = kwire("conform", *options, "--explain", "client/bootstrap/1")
    assert run.code == 0, run.err
    assert run.out.startswith("client/bootstrap/1  ")
    assert re.search(r"^  class      .*: a client that does otherwise FAILs$", run.out, re.M)
    assert re.search(r"^  source     \S", run.out, re.M)
    assert re.search(r"^  address    https://", run.out, re.M)
    assert "recorded" not in run.out


def test_the_sentences_of_a_kip_have_a_verdict_for_each_release(kwire: Command) -> None:
    rows = kwire("conform", "--kip", "853", "--json").json["checks"]
    by_id = {row["id"]: row for row in rows}
    voter = by_id["quorum/kip-853/voters/3"]
    assert (voter["3.6.2"], voter["3.9.1"], voter["4.3.1"], voter["4.4.0"]) == (
        None,
        "PASS",
        "PASS",
        "PASS",
    )
    assert "quorum/kip-853/voters/3" in kwire("conform", "--kip", "853").out


def test_the_sentences_of_a_kip_are_a_page(kwire: Command, tmp_path: Path) -> None:
    page = tmp_path / "kip-853.html"
    run = kwire("conform", "--kip", "853", "--html", str(page))
    assert (run.code, run.out) == (0, "")
    text = page.read_text()
    assert "KIP-853, sentence by sentence" in text
    assert "Kafka 4.4.0 controller" in text
    assert "quorum/kip-853/voters/3" in text
    assert "versions/kip-511/1" not in text


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--explain", "a/b/1"], "no check is called 'a/b/1'"),
        (["--explain", "client/bootstrap"], "no case is called 'client/bootstrap'"),
        (["--kip", "1"], "no check is of KIP-1"),
        (["--kip", "853", "--list"], "exclude each other"),
        (["localhost:9092", "--kip", "853"], "ask no server: leave out localhost:9092."),
    ],
)
def test_what_cannot_be_explained(kwire: Command, words: list[str], reason: str) -> None:
    run = kwire("conform", *words)
    assert run.code == 2
    assert reason in run.err
