"""`kwire partitions`: arguments, tables and refusals, against scripted brokers."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from kwire.admin.reassignment.journal import VARIABLE, ThrottleJournal
from kwire.admin.reassignment.throttle import RATES, ThrottleSetting
from kwire.admin.topic_partition import TopicPartition
from kwire.cli.admin.partition_names import milliseconds, offset_time
from kwire.cli.errors import WrongUsage
from kwire.messages import a43_elect_leaders as election
from kwire.messages import a45_alter_partition_reassignments as altered
from kwire.messages.config_resource import ResourceType
from tests.support.admin.scripted_moves import ScriptedMoves
from tests.support.cli.command import Command
from tests.support.cli.scripted_cluster import scripted_cluster

A0, A1 = TopicPartition("a", 0), TopicPartition("a", 1)


@pytest.fixture
def moves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedMoves]:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "state"))
    with scripted_cluster(3) as brokers:
        scripted = ScriptedMoves(brokers)
        scripted.replicas = {A0: (0, 1), A1: (1, 2)}
        yield scripted


@pytest.fixture
def at(moves: ScriptedMoves) -> list[str]:
    return ["--bootstrap-server", ",".join(moves.brokers.addresses)]


def test_a_plan_is_a_file_for_kafkas_tool_too(
    kwire: Command, at: list[str], tmp_path: Path
) -> None:
    out = tmp_path / "plan.json"
    run = kwire("partitions", "reassign", "plan", "--drain", "2", "--out", str(out), "--json", *at)
    assert run.json["version"] == 1
    assert run.json["partitions"] == [
        {
            "topic": "a",
            "partition": 1,
            "old": [1, 2],
            "replicas": [1, 0],
            "adding": [0],
            "removing": [2],
            "log_dirs": ["any", "any"],
        }
    ]
    assert run.json["copies"] == 1
    assert out.read_text() == (
        '{"version":1,"partitions":'
        '[{"topic":"a","partition":1,"replicas":[1,0],"log_dirs":["any","any"]}]}\n'
    )


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["a"],
        ["--drain", "1", "a"],
        ["--rf", "2"],
        ["--spread"],
        ["--drain", "1", "--rf", "2", "a"],
    ],
)
def test_a_plan_has_one_purpose(kwire: Command, at: list[str], arguments: list[str]) -> None:
    run = kwire("partitions", "reassign", "plan", *arguments, *at)
    assert run.error == "give --drain ID, or --rf N TOPIC..., or --spread TOPIC..."
    assert run.code == 2


def test_an_impossible_plan_is_one_sentence(kwire: Command, at: list[str]) -> None:
    run = kwire("partitions", "reassign", "plan", "--rf", "4", "a", *at)
    assert run.code == 1
    assert run.error.startswith("a-0 is to have 4 replicas, and only 3 brokers can hold one")


@pytest.fixture
def plan(tmp_path: Path) -> str:
    path = tmp_path / "plan.json"
    path.write_text('{"partitions":[{"topic":"a","partition":0,"replicas":[0,2]}]}')
    return str(path)


def test_a_plan_is_applied_and_its_throttle_goes(
    kwire: Command, moves: ScriptedMoves, at: list[str], plan: str, tmp_path: Path
) -> None:
    back = tmp_path / "back.json"
    apply = ["partitions", "reassign", "apply", plan, "--yes", "--throttle", "1000"]
    run = kwire(*apply, "--rollback", str(back), "--json", *at)
    assert run.json == {
        "partitions": [
            {
                "topic": "a",
                "partition": 0,
                "replicas": [0, 2],
                "state": "completed",
                "error": None,
                "message": None,
            }
        ]
    }
    assert '"replicas":[0,1]' in back.read_text()
    assert "throttle" in moves.events
    assert not moves.throttled
    assert "1 of 1 partitions have moved" in run.err


def test_a_dry_run_changes_nothing(
    kwire: Command, moves: ScriptedMoves, at: list[str], plan: str
) -> None:
    run = kwire("partitions", "reassign", "apply", plan, "--dry-run", "--json", *at)
    assert (run.json["dryRun"], run.json["partitions"][0]["adding"]) == (True, [2])
    assert not moves.events


def test_nobody_is_asked_where_nobody_answers(
    kwire: Command, moves: ScriptedMoves, at: list[str], plan: str
) -> None:
    run = kwire("partitions", "reassign", "apply", plan, *at)
    assert run.code == 2
    assert "1 partition changes, 1 replica to copy. Begin? Not a terminal" in run.error
    assert not moves.events


def test_a_move_that_is_refused_is_a_row_with_an_error(
    kwire: Command, moves: ScriptedMoves, at: list[str], plan: str
) -> None:
    moves.refused = 39
    run = kwire("partitions", "reassign", "apply", plan, "--yes", "--json", *at)
    assert run.code == 1
    assert run.json["partitions"][0]["error"] == "INVALID_REPLICA_ASSIGNMENT"


def test_a_topic_that_does_not_exist_is_named(
    kwire: Command, at: list[str], tmp_path: Path
) -> None:
    path = tmp_path / "plan.json"
    path.write_text('{"partitions":[{"topic":"b","partition":0,"replicas":[0]}]}')
    apply = kwire("partitions", "reassign", "apply", str(path), "--yes", *at)
    assert (apply.code, apply.error) == (1, "the cluster has no partition b-0")
    verify = kwire("partitions", "reassign", "verify", str(path), "--json", *at)
    assert verify.json["partitions"][0]["error"] == "REASSIGNMENT_CHANGED"


def test_a_file_that_chooses_directories_is_refused(
    kwire: Command, at: list[str], tmp_path: Path
) -> None:
    path = tmp_path / "kafkas.json"
    path.write_text(
        '{"partitions":[{"topic":"a","partition":0,"replicas":[0],"log_dirs":["/data"]}]}'
    )
    run = kwire("partitions", "reassign", "apply", str(path), "--yes", *at)
    assert "names a directory for a-0: write any, and move the replica" in run.error


def left_over(moves: ScriptedMoves, tmp_path: Path) -> None:
    """Leave the throttle of a process that was killed."""
    moves.config(ResourceType.BROKER, "1")[RATES[0]] = "1000"
    setting = ThrottleSetting(type=4, name="1", key=RATES[0], value="1000", before=None)
    with ThrottleJournal("scripted", tmp_path / "state") as journal:
        journal.write([setting])


def test_verify_takes_a_left_over_throttle_off(
    kwire: Command, moves: ScriptedMoves, at: list[str], plan: str, tmp_path: Path
) -> None:
    left_over(moves, tmp_path)
    run = kwire("partitions", "reassign", "verify", plan, *at)
    assert run.code == 1
    assert "The throttle is off: broker 1." in run.out
    assert "a-0 is on 0, 1, not on 0, 2" in run.out
    assert not moves.throttled


def test_verify_leaves_it_while_something_moves(
    kwire: Command, moves: ScriptedMoves, at: list[str], plan: str, tmp_path: Path
) -> None:
    left_over(moves, tmp_path)
    moves.moving, moves.listings = {A0: (0, 2)}, -1
    run = kwire("partitions", "reassign", "verify", plan, "--json", *at)
    assert run.json["partitions"][0]["state"] == "moving"
    assert moves.throttled


def test_cancel_takes_moves_and_throttle_back(
    kwire: Command, moves: ScriptedMoves, at: list[str], tmp_path: Path
) -> None:
    left_over(moves, tmp_path)
    moves.moving, moves.listings = {A0: (0, 2)}, -1
    run = kwire("partitions", "reassign", "cancel", "--all", "--yes", "-o", "tsv", *at)
    assert run.out == "a\t0\tcancelled\t0,1\t-\t-\n"
    assert not moves.moving
    assert not moves.throttled


def test_a_move_that_ended_before_it_was_cancelled_is_no_failure(
    kwire: Command, moves: ScriptedMoves, at: list[str]
) -> None:
    moves.moving, moves.listings = {A0: (0, 2)}, -1
    partition = altered.ReassignablePartitionResponse(partition_index=0, error_code=85)
    topic = altered.ReassignableTopicResponse(name="a", partitions=[partition])
    for node in moves.brokers.nodes:
        node.scripts[altered.AlterPartitionReassignmentsRequest] = lambda request: (
            altered.AlterPartitionReassignmentsResponse(responses=[topic])
        )
    run = kwire("partitions", "reassign", "cancel", "--all", "--yes", "--json", *at)
    assert run.code == 0
    (row,) = run.json["partitions"]
    assert (row["state"], row["error"]) == ("finished before", None)


def test_what_moves_is_listed(kwire: Command, moves: ScriptedMoves, at: list[str]) -> None:
    assert kwire("partitions", "reassignments", *at).out == "nothing moves\n"
    moves.moving, moves.listings = {A0: (0, 2)}, -1
    assert kwire("partitions", "reassignments", "--json", *at).json == {
        "partitions": [
            {"topic": "a", "partition": 0, "replicas": [0, 2, 1], "adding": [2], "removing": [1]}
        ]
    }


def test_elections_name_partitions_or_all(
    kwire: Command, moves: ScriptedMoves, at: list[str]
) -> None:
    answer = election.ElectLeadersResponse(
        replica_election_results=[
            election.ReplicaElectionResult(
                topic="a",
                partition_result=[
                    election.PartitionResult(partition_id=0, error_code=0, error_message=None),
                    election.PartitionResult(partition_id=1, error_code=80, error_message="down"),
                ],
            )
        ]
    )
    for node in moves.brokers.nodes:
        node.scripts[election.ElectLeadersRequest] = lambda request: answer
    run = kwire("partitions", "elect", "a-0", "a-1", "-o", "tsv", *at)
    assert run.out == "a\t0\telected\t-\t-\na\t1\t-\tPREFERRED_LEADER_NOT_AVAILABLE\tdown\n"
    assert run.code == 1
    assert kwire("partitions", "elect", *at).code == 2
    assert "a-x" in kwire("partitions", "elect", "a-x", *at).error
    assert "confirm with --yes" in kwire("partitions", "elect", "--unclean", "--all", *at).error


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("latest", -1),
        ("earliest", -2),
        ("max-timestamp", -3),
        ("earliest-local", -4),
        ("latest-tiered", -5),
        ("@1795246073056", 1_795_246_073_056),
        ("@2026-11-22T17:00:00Z", 1_795_366_800_000),
        ("@2026-11-22T18:00:00+01:00", 1_795_366_800_000),
        ("@2026-11-22", 1_795_305_600_000),
    ],
)
def test_times_and_ends_are_those_of_kafkas_tools(text: str, time: int) -> None:
    """The numbers of the ends are those that kafka-get-offsets --time takes."""
    assert offset_time(text) == time


@pytest.mark.parametrize("text", ["", "now", "5", "@", "@yesterday", "@-5", "@1969-12-31", "@²"])
def test_other_times_are_wrong_usage(text: str) -> None:
    with pytest.raises(WrongUsage):
        offset_time(text)


def test_a_time_too_large_for_the_wire_is_wrong_usage() -> None:
    with pytest.raises(WrongUsage):
        milliseconds("9" * 40)
