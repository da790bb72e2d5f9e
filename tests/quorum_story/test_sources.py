"""Records, recordings and answers of nodes as sources."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime
from pathlib import Path

from kwire.capture import CaptureRecord
from kwire.error_codes import ErrorCode
from kwire.messages.a52_vote import (
    PartitionData,
    TopicData,
    VoteRequest,
    VoteResponse,
)
from kwire.messages.a53_begin_quorum_epoch import (
    BeginQuorumEpochRequest,
    BeginQuorumEpochResponse,
)
from kwire.messages.a53_begin_quorum_epoch import PartitionData as BegunPartition
from kwire.messages.a53_begin_quorum_epoch import TopicData as BegunTopic
from kwire.quorum_recovery.apply import apply_recovery
from kwire.quorum_recovery.plan import plan_recovery
from kwire.quorum_recovery.survivor import read_survivor
from kwire.quorum_story.capture_source import recording
from kwire.quorum_story.explain import explain
from kwire.quorum_story.node_source import asked_nodes
from kwire.quorum_story.record_source import metadata_folder
from kwire.quorum_story.story import StoryKind
from tests.support.capture.capture_records import write
from tests.support.doctor.evidence import (
    address,
    controller,
    evidence_of,
    quorum_info,
    replica,
    silent,
)
from tests.support.paths import ROOT
from tests.support.proxy.capture.replay.recorded_flows import flow, records
from tests.support.quorum_recovery.directories import make_controller

KAFKAS = ROOT / "fixtures/logdirs/kafka-4.3.1"
"""A real controller's directory; the expected values are of Kafka's DumpLogSegments."""

ELECTED = datetime.fromtimestamp(1795256971935 / 1000, UTC)
NOW = 1_795_827_723_456


def test_a_metadata_log_tells_its_leaders() -> None:
    source = metadata_folder(KAFKAS)
    led = [event for event in source.events if event.kind is StoryKind.LEADS]
    assert [(event.epoch, event.leader_id, event.time) for event in led] == [(1, 1, 1795256971935)]
    assert led[0].place == "00000000000000000000.log offset 0"
    assert source.problem == ""


def test_voters_that_begin_an_epoch_are_a_recovery(tmp_path: Path) -> None:
    survivor = read_survivor(make_controller(tmp_path / "c1", 1, epochs={1: 10}))
    plan = plan_recovery([survivor])
    apply_recovery(plan, datetime(2026, 11, 28, tzinfo=UTC))
    story = explain([metadata_folder(tmp_path / "c1")])
    (cause,) = story.causes
    assert (cause.cause.id, cause.first.details) == ("voters.recovered", {"voters": "1"})
    assert cause.first.place == f"00000000000000000000.log offset {plan.chosen.end.offset}"


def test_a_damaged_log_is_read_up_to_its_damage(tmp_path: Path) -> None:
    shutil.copytree(KAFKAS / "__cluster_metadata-0", tmp_path / "__cluster_metadata-0")
    log = tmp_path / "__cluster_metadata-0/00000000000000000000.log"
    data = bytearray(log.read_bytes())
    data[2000] ^= 1
    log.write_bytes(data)
    source = metadata_folder(tmp_path)
    assert source.problem.startswith(f"{tmp_path} is damaged, and read as far as it is whole: ")
    assert log.name in source.problem
    assert [event.epoch for event in source.events if event.kind is StoryKind.LEADS] == [1]


def test_a_folder_without_a_log_is_one_sentence(tmp_path: Path) -> None:
    assert metadata_folder(tmp_path).problem == (
        f"{tmp_path} has no metadata log: give the folder __cluster_metadata-0."
    )


def test_a_source_that_has_nothing_is_said(tmp_path: Path) -> None:
    segment = tmp_path / "00000000000000000000.log"
    segment.touch()
    assert metadata_folder(segment).problem == f"{segment} is empty."
    assert recording(tmp_path).problem == f"there is no capture in {tmp_path}."


def captured(tmp_path: Path) -> Path:
    asked = PartitionData(replica_epoch=5, replica_id=2, last_offset_epoch=4, last_offset=9)
    vote = VoteRequest(topics=[TopicData(topic_name="__cluster_metadata", partitions=[asked])])
    begun = BegunPartition(leader_id=3, leader_epoch=6)
    begin = BeginQuorumEpochRequest(
        topics=[BegunTopic(topic_name="__cluster_metadata", partitions=[begun])]
    )
    refused = VoteResponse(error_code=ErrorCode.INCONSISTENT_CLUSTER_ID)
    flows = records(
        flow(vote, refused, 1, at=NOW / 1000),
        flow(begin, BeginQuorumEpochResponse(), 1, at=NOW / 1000 + 1),
    )
    path = tmp_path / "quorum.avro"
    every: list[CaptureRecord] = [record for group in flows for record in group]
    write(path, every)
    return path


def test_a_recording_tells_votes_leaders_and_refusals(tmp_path: Path) -> None:
    path = captured(tmp_path)
    source = recording(path)
    assert [(event.kind, event.node_id, event.epoch) for event in source.events] == [
        (StoryKind.SEEKS_VOTES, 2, 5),
        (StoryKind.CAUSE, 2, None),
        (StoryKind.LEADS, 3, 6),
    ]
    assert source.events[1].cause_id == "cluster.id-mismatch"
    assert source.events[1].place == f"{path}: Vote 7 of 127.0.0.1:5"
    assert source.first_time == NOW


def test_a_file_that_is_no_capture_is_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "x.avro"
    path.write_text("hello")
    assert recording(path).problem == (
        f"{path} cannot be read to its end: {path}, byte 0: no capture: it does not begin as an"
        " Avro file does"
    )


def test_nodes_say_whom_they_follow_and_silent_ones_are_not_well() -> None:
    leader = controller(1, quorum_info(map(replica, (1, 2, 3))))
    evidence = evidence_of(leader, controller(2), silent(address(3)))
    story = explain(asked_nodes(evidence, NOW))
    assert story.notes == (
        f"{address(3)} gave no answer: {address(3)} refused the connection: nothing listens there",
    )
    assert [(reign.epoch, reign.leader_id, reign.began) for reign in story.reigns] == [
        (14, 1, None)
    ]
    ready = [answer for answer in story.answers if answer.question == "ready"]
    assert [(answer.node_id, answer.good) for answer in ready] == [(1, True), (2, True)]


def test_records_give_a_log_without_dates_its_days() -> None:
    from kwire.quorum_story.log_source import log_file

    clock = f"{ELECTED:%H:%M:%S}.{ELECTED.microsecond // 1000:03}"
    log = log_file(
        "node.log",
        [
            f"{clock} [kafka-1-raft-io-thread] INFO org.apache.kafka.raft.QuorumState -"
            " [RaftManager id=1] Completed transition to Leader(localReplicaKey=x, epoch=1,"
            " epochStartOffset=0) from CandidateState(localId=1, epoch=1)"
        ],
    )
    story = explain([log, metadata_folder(KAFKAS)])
    assert [reign.began for reign in story.reigns] == [1795256971935]
    assert story.notes == ("node.log has times without dates: the epochs give them.",)
    assert all(event.dated for event in story.events)
