"""Lists fit a terminal of 60 columns, and nothing in them is cut off."""

import re
import sys
from typing import Any

import pytest

from kwire.cli.findings import findings_table, show_findings
from kwire.cli.migration.plan import print_steps
from kwire.cli.output import Column, Output, Table
from kwire.cli.protocol.commands import app
from kwire.cli.proxy.rule_commands import print_rules
from kwire.cli.quorum.screen import REPLICATION, print_replication, print_status
from kwire.migration.operator.findings.preflight import NO_TOPIC_ID
from kwire.migration.operator.plan_files import MigrationStep
from kwire.protocol.overview import overview

REPLICA = dict.fromkeys(REPLICATION, 1_795_246_073_056) | {
    "nodeId": 3000,
    "directoryId": "AAAAAAAAQACAAAAAAAAwAA",
    "logEndOffset": 123_456,
    "lag": 0,
    "status": "Follower",
}


@pytest.fixture(autouse=True)
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Print to a terminal of 60 columns, without colours."""
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "60")


def printed(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return re.sub(r"\x1b\[\d*m", "", capsys.readouterr().out).splitlines()


@pytest.mark.parametrize(("name", "breaks"), [("n" * 30, False), ("n" * 50, True)])
def test_names_to_copy_break_only_where_they_leave_no_room(
    capsys: pytest.CaptureFixture[str], name: str, breaks: bool
) -> None:
    columns = [Column(key="id", whole=True), Column(key="text")]
    Output().show(Table("rows", columns, [{"id": name, "text": "a word and another " * 9}]))
    text = printed(capsys)
    assert all(len(line) <= 60 for line in text)
    assert (name not in text[1]) == breaks


@pytest.mark.parametrize(("width", "lines"), [(60, 5), (80, 3), (120, 2)])
def test_replicas_have_a_line_each_or_two(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, width: int, lines: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    print_replication([REPLICA], human_readable=False)
    shown = printed(capsys)
    assert (len(shown), max(map(len, shown)) <= width) == (lines, True)
    words = " ".join(shown).split()
    assert [str(value) for value in REPLICA.values() if str(value) not in words] == []


def test_voters_have_a_line_each(capsys: pytest.CaptureFixture[str]) -> None:
    endpoints = ["CONTROLLER://127.0.0.1:46085"]
    voter = {"id": 3000, "directoryId": "AAAAAAAAQACAAAAAAAAwAA", "endpoints": endpoints}
    print_status({"leaderId": 3000, "currentVoters": [voter], "currentObservers": []})
    shown = printed(capsys)
    assert "3000  AAAAAAAAQACAAAAAAAAwAA  CONTROLLER://127.0.0.1:46085" in shown
    assert max(map(len, shown)) <= 60


def test_long_endpoints_go_on_in_the_next_line(capsys: pytest.CaptureFixture[str]) -> None:
    endpoint = "CONTROLLER://controller-3000.kafka.example.com:9093"
    voter = {"id": 3000, "directoryId": "AAAAAAAAQACAAAAAAAAwAA", "endpoints": [endpoint]}
    print_status({"leaderId": 3000, "currentVoters": [voter], "currentObservers": []})
    shown = printed(capsys)
    assert max(map(len, shown)) <= 60
    cells = (line[30:].strip() for line in shown[shown.index("CurrentVoters:") + 2 :])
    assert "".join(cells).startswith(endpoint)


def test_apis_are_listed_with_their_whole_names(capsys: pytest.CaptureFixture[str]) -> None:
    app(["show"], standalone_mode=False)
    shown = printed(capsys)
    assert (max(map(len, shown)) <= 60, "…" in "".join(shown)) == (True, False)
    names = [line.split()[1] for line in shown if line.startswith("Name ")]
    assert names == [row.name for row in overview(every=False)]


def test_rules_are_listed_whole(capsys: pytest.CaptureFixture[str]) -> None:
    rule: dict[str, Any] = {"match": "~api Fetch & ~from 3001", "delay": "1s"}
    print_rules([{"name": "slow", "enabled": True, "origin": "feed", "hits": 12, "rule": rule}])
    shown = printed(capsys)
    assert (max(map(len, shown)) <= 60, "…" in "".join(shown)) == (True, False)


@pytest.mark.parametrize(
    ("width", "lines"),
    [
        (40, ["before/no-topic-id  PROBLEM", "  2 topics without an id", "  - one", "  - two"]),
        (80, ["before/no-topic-id  PROBLEM  2 topics without an id", f"{'':29}- one"]),
    ],
)
def test_a_finding_stands_below_its_id_where_there_is_no_room_beside_it(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    width: int,
    lines: list[str],
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    found = [NO_TOPIC_ID("2 topics without an id", "one", "two")]
    show_findings(Output(), findings_table(found), found)
    shown = printed(capsys)
    assert shown[: len(lines)] == lines
    assert max(map(len, shown)) <= width


def test_a_command_of_a_plan_is_the_same_to_a_shell_in_several_lines(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    command = "bin/zookeeper-shell.sh zk1:2181,zk2:2181/kafka delete /controller"
    title = "Way back, from the steps 1 and 2"
    step = MigrationStep(folder="back", title=title, actions=(command, "stop all controllers"))
    print_steps([step], Output())
    shown = printed(capsys)
    assert shown[0] == "back: Way back, from the steps 1 and 2"
    assert shown[1] == "  1. bin/zookeeper-shell.sh \\"
    # As sh(1) does with a backslash at the end of a line.
    assert "\n".join(shown[1:4]).replace("\\\n", "").split()[1:] == command.split()
    assert max(map(len, shown)) <= 40


TOPICS = Table(
    "topics",
    [
        Column(key="topic"),
        Column(key="partition", right=True),
        Column(key="leader", right=True),
        Column(key="replicas"),
        Column(key="isr"),
    ],
    [
        {"topic": name, "partition": 0, "leader": 1, "replicas": [1, 2, 3], "isr": [1, 2, 3]}
        for name in ("orders.of.the.east", "payments.of.the.west")
    ],
)


@pytest.mark.parametrize(("width", "lines"), [(40, 11), (80, 3)])
def test_a_terminal_too_narrow_for_a_table_gets_a_line_for_each_value(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, width: int, lines: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    Output().show(TOPICS)
    shown = printed(capsys)
    assert len(shown) == lines
    assert any("payments.of.the.west" in line for line in shown)
    assert max(map(len, shown)) <= width
