"""Static voters, joining by itself, two disks of one node."""

from __future__ import annotations

from dataclasses import replace

from kwire.admin.quorum import QuorumInfo
from kwire.doctor.checks.voters import check
from kwire.doctor.evidence import Evidence
from kwire.doctor.finding import FindingVerdict
from tests.support.doctor.evidence import (
    LATEST,
    controller,
    directory,
    evidence_of,
    image_of,
    quorum_info,
    registered,
    replica,
)

STATIC = {"controller.quorum.voters": "1@10.0.0.1:9093,2@10.0.0.2:9093"}
AUTO_JOIN = {"controller.quorum.auto.join.enable": "true"}
IMAGE = image_of([registered(node_id, LATEST) for node_id in (1, 2, 3)], [])


def pair(*observers: int) -> QuorumInfo:
    """Return a quorum of voters 1 and 2 with these observers."""
    return quorum_info([replica(1), replica(2)], map(replica, observers))


def test_two_directory_ids_of_one_node_come_with_the_commands_that_mend_it() -> None:
    new_disk = replace(replica(2), replica_directory_id=directory(99))
    quorum = quorum_info([replica(1), replica(2, silent_ms=90_000)], [new_disk])
    (finding,) = check(evidence_of(controller(1, quorum)))
    assert finding.id == "voters/two-directories"
    assert "votes with directory id AAAAAAAAAAIAAAAAAACAAA and fetches with" in finding.sentence
    assert finding.advice == "kwire quorum replace 2"


def test_two_processes_of_one_id_are_found_whichever_fetched_last() -> None:
    other = replace(replica(2, silent_ms=400), replica_directory_id=directory(99))
    quorum = quorum_info([replica(1), replica(2)], [other])
    (finding,) = check(evidence_of(controller(1, quorum)))
    assert finding.id == "voters/two-directories"
    assert finding.fixes[0].steps == (
        "stop the process with directory id AAAAAAAAAAIAAAAAAACAAA in its meta.properties",
        "kwire quorum replace 2",
    )


def test_an_old_disk_that_the_leader_still_lists_as_observer_is_no_finding() -> None:
    old_disk = replace(replica(2, silent_ms=90_000), replica_directory_id=directory(99))
    quorum = quorum_info([replica(1), replica(2)], [old_disk])
    assert [finding.id for finding in check(evidence_of(controller(1, quorum)))] == ["voters/ok"]


def test_static_voters_left_over_are_named_at_each_node_that_has_them() -> None:
    nodes = [controller(1, pair(), configs=STATIC), controller(2)]
    (finding,) = check(evidence_of(*nodes))
    assert finding.id == "voters/static-left-over"
    assert finding.sentence.startswith("controller 1 still has controller.quorum.voters")


def static(*lists: dict[str, str]) -> Evidence:
    """Return evidence of controllers of kraft.version 0 with these configurations."""
    quorum = quorum_info([replica(1), replica(2)])
    return evidence_of(
        controller(1, quorum, kraft_version=0, configs=lists[0]),
        controller(2, kraft_version=0, configs=lists[1]),
    )


def test_static_voters_of_a_static_quorum_are_only_said() -> None:
    findings = list(check(static(STATIC, STATIC)))
    assert [finding.id for finding in findings] == ["voters/static", "voters/ok"]
    assert findings[0].verdict is FindingVerdict.INFO
    assert findings[0].evidence[1] == "all controllers that answer support kraft.version 1"


def test_static_lists_that_differ_are_a_problem_unless_only_their_order_does() -> None:
    other = {"controller.quorum.voters": "2@10.0.0.2:9093, 3@10.0.0.3:9093"}
    assert [f.id for f in check(static(STATIC, other))] == ["voters/static-lists-differ"]
    turned = {"controller.quorum.voters": "2@10.0.0.2:9093, 1@10.0.0.1:9093"}
    assert next(f.id for f in check(static(STATIC, turned))) == "voters/static"


def test_a_controller_that_follows_without_voting_could_vote() -> None:
    nodes = [controller(1, pair(3)), controller(2), controller(3)]
    (finding,) = check(evidence_of(*nodes, image=IMAGE))
    assert finding.id == "voters/observer-could-vote"
    assert finding.advice == (
        "kwire quorum add-controller 3; if it is not to vote: stop controller 3"
    )
    assert finding.evidence[1] == "2 voters bear 0 failed, 3 would bear 1"


def test_a_removed_controller_with_auto_join_will_be_back() -> None:
    nodes = [controller(1, pair(3)), controller(2), controller(3, configs=AUTO_JOIN)]
    (finding,) = check(evidence_of(*nodes, image=IMAGE))
    assert finding.id == "voters/auto-join-waits"


def test_a_broker_that_observes_could_not_vote() -> None:
    nodes = [controller(1, pair(11)), controller(2)]
    assert [f.id for f in check(evidence_of(*nodes, image=IMAGE))] == ["voters/ok"]


def test_voters_with_auto_join_are_said_without_blame() -> None:
    nodes = [
        controller(node_id, quorum, configs=AUTO_JOIN)
        for node_id, quorum in ((1, pair()), (2, None))
    ]
    first, second = check(evidence_of(*nodes))
    assert first.sentence == "1 and 2 join again if removed while running"
    assert second.id == "voters/ok"


def test_a_level_over_static_voters_does_not_say_that_the_lists_may_go() -> None:
    """As Kafka 3.9.1 leaves a static quorum whose kraft.version was raised (KAFKA-18979)."""
    voters = [replace(replica(node_id), replica_directory_id=None) for node_id in (1, 2)]
    quorum = quorum_info(voters)
    nodes = [controller(1, quorum, configs=STATIC), controller(2, configs=STATIC)]
    finding = next(iter(check(evidence_of(*nodes))))
    assert finding.id == "voters/still-static"
    assert finding.advice.startswith("leave controller.quorum.voters on every node")
