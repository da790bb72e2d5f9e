"""One cluster id, one quorum."""

from __future__ import annotations

from dataclasses import replace

from kwire.doctor.checks.identity import check
from tests.support.doctor.evidence import (
    controller,
    directory,
    evidence_of,
    healthy,
    quorum_info,
    replica,
)


def test_two_quorums_of_one_cluster_id_are_told_apart_by_their_voters() -> None:
    alone = quorum_info([replica(1)], epoch=5)
    pair = quorum_info([replica(2), replica(3)], epoch=4)
    (finding,) = check(evidence_of(controller(1, alone), controller(2, pair), controller(3)))
    assert finding.id == "identity/two-quorums"
    assert finding.sentence == (
        "controller 1 leads epoch 5 with voters 1; controller 2 leads epoch 4 with voters 2 and 3:"
        " two quorums of one cluster id"
    )


def test_a_wiped_disk_makes_a_quorum_of_its_own_though_the_ids_are_the_same() -> None:
    wiped = replace(replica(1), replica_directory_id=directory(99))
    (finding,) = check(
        evidence_of(
            controller(1, quorum_info([wiped], epoch=1)),
            controller(2, quorum_info(map(replica, (2, 1, 3)), epoch=9)),
        )
    )
    assert finding.id == "identity/two-quorums"


def test_two_leaders_with_common_voters_may_be_an_election() -> None:
    old = quorum_info(map(replica, (1, 2, 3)), epoch=4)
    new = quorum_info(map(replica, (2, 1, 3)), epoch=5)
    (finding,) = check(evidence_of(controller(1, old), controller(2, new)))
    assert finding.id == "identity/two-leaders"


def test_different_cluster_ids_are_named_with_their_nodes() -> None:
    quorum = quorum_info(map(replica, (1, 2)))
    (finding,) = check(evidence_of(controller(1, quorum), controller(2, cluster_id="other")))
    assert finding.id == "identity/cluster-ids-differ"
    assert finding.evidence == ("controller 1: 3Db5QLSqSZieL3rJBUUegA", "controller 2: other")


def test_the_cluster_id_is_told_when_all_is_well() -> None:
    (finding,) = check(healthy())
    assert finding.sentence == "the cluster id is 3Db5QLSqSZieL3rJBUUegA"
