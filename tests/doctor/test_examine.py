"""The report as a whole: what is healthy is ok, `only` selects, ids are those that are listed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kwire.admin.controller_state import FollowedLeader
from kwire.admin.quorum import QuorumInfo
from kwire.doctor.evidence import EndpointOrigin, Evidence, KnownEndpoint
from kwire.doctor.examine import CHECKS, KINDS, examine, select, worst
from kwire.doctor.finding import FindingVerdict
from kwire.errors import InvalidValue
from tests.support.doctor.evidence import (
    address,
    controller,
    evidence_of,
    healthy,
    image_of,
    quorum_info,
    replica,
    silent,
)


def test_of_a_healthy_quorum_each_subject_says_that_it_is_ok() -> None:
    findings = examine(healthy())
    assert [finding.id for finding in findings] == [f"{subject}/ok" for subject in CHECKS]
    assert worst(findings) is FindingVerdict.OK


def test_without_an_answer_nothing_is_said_to_be_ok() -> None:
    findings = examine(evidence_of(silent(address(1)), silent(address(2))))
    assert [finding.id for finding in findings] == ["nodes/none-answer", "nodes/not-checked"]
    assert len(findings[0].evidence) == 2
    assert worst(findings) is FindingVerdict.PROBLEM


SELECTIONS = [*CHECKS, "quorum/follows-nobody", "partitions/under-min-isr"]


@pytest.mark.parametrize("only", SELECTIONS)
def test_a_selection_is_not_well_if_nobody_answers_or_nobody_leads(only: str) -> None:
    """kwire's upgrade plan prints such commands, and `--only security` reads as "no problems"."""
    nobody = evidence_of(silent(address(1)), silent(address(2)))
    assert "nodes/none-answer" in {finding.id for finding in examine(nobody, [only])}
    leaderless = [controller(n, follows=FollowedLeader(leader_id=None, epoch=9)) for n in (1, 2, 3)]
    findings = examine(evidence_of(*leaderless), [only])
    assert worst(findings) is FindingVerdict.PROBLEM
    assert "quorum/no-leader" in {finding.id for finding in findings}


def without_answers(evidence: Evidence, **answers: object) -> Evidence:
    """Return evidence whose controllers were not told some answers, as `nodes/refused` says."""
    refusals = {"DescribeConfigs": "CLUSTER_AUTHORIZATION_FAILED"}
    nodes = [replace(node, refusals=refusals, **answers) for node in evidence.nodes]  # type: ignore[arg-type]
    return replace(evidence, nodes=tuple(nodes))


def cut(evidence: Evidence, node_id: int) -> Evidence:
    """Return evidence in which the controller of an id did not answer."""
    nodes = (silent(n.address) if n.node_id == node_id else n for n in evidence.nodes)
    return replace(evidence, nodes=tuple(nodes))


def no_level(evidence: Evidence) -> Evidence:
    """Return evidence of controllers that finalize no feature, as far as they tell."""
    nodes = [
        replace(node, api=node.api and replace(node.api, finalized_features={}))
        for node in evidence.nodes
    ]
    return replace(evidence, nodes=tuple(nodes))


NO_VOTERS = QuorumInfo(leader_id=1, leader_epoch=14, high_watermark=1, voters=(), observers=())
NO_ENDPOINTS = replace(quorum_info(map(replica, (1, 2, 3))), nodes={})
NOBODY_REGISTERED = image_of([], [])


@pytest.mark.parametrize(
    ("evidence", "subjects"),
    [
        (without_answers(healthy(), configs={}), ["security"]),
        (without_answers(healthy(), follows=None, quorum=None), ["quorum"]),
        (without_answers(healthy(), cluster=None), ["identity"]),
        (no_level(healthy()), ["voters"]),
        (cut(healthy(), 2), ["endpoints", "quorum", "voters", "security", "identity"]),
        (replace(healthy(), image=None), ["registrations", "features", "brokers", "partitions"]),
        (replace(healthy(), image=None), ["migration"]),
        (healthy(NO_VOTERS), ["quorum", "voters"]),
        (healthy(NO_ENDPOINTS), ["endpoints"]),
        (healthy(image=NOBODY_REGISTERED), ["features"]),
        (Evidence(), list(CHECKS)),
    ],
)
def test_what_could_not_be_asked_is_unknown_in_every_selection(
    evidence: Evidence, subjects: list[str]
) -> None:
    for subject in subjects:
        assert worst(examine(evidence, [subject])).rank >= FindingVerdict.UNKNOWN.rank


def test_a_subject_without_any_evidence_is_named() -> None:
    findings = examine(replace(healthy(), image=None), ["brokers", "quorum", "migration"])
    assert [finding.id for finding in findings] == ["quorum/ok", "nodes/not-checked"]
    assert findings[1].sentence == "not checked for want of answers: brokers, migration"


def test_no_evidence_at_all_raises_nothing() -> None:
    examine(Evidence())


def test_only_selects_subjects_and_ids() -> None:
    assert [finding.id for finding in examine(healthy(), only=["quorum"])] == ["quorum/ok"]
    assert [finding.id for finding in examine(healthy(), only=["voters/ok"])] == ["voters/ok"]
    assert examine(healthy(), only=["voters/static"]) == ()


def test_an_unknown_check_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InvalidValue, match="'quorums' is no check: name one of nodes, quorum, "):
        list(select(["quorums"]))


def test_an_id_is_listed_once_and_begins_with_its_subject() -> None:
    ids = [kind.id for kind in KINDS]
    assert len(set(ids)) == len(ids)
    assert {id.partition("/")[0] for id in ids} == set(CHECKS)


def test_a_kind_that_is_bad_says_what_to_do_and_where_it_is_explained() -> None:
    bad = (FindingVerdict.WARNING, FindingVerdict.PROBLEM)
    assert not [k.id for k in KINDS if k.verdict in bad and not (k.advice and k.source)]


@pytest.mark.parametrize(("silent_ms", "told"), [(100, True), (60_000, False)])
def test_a_live_controller_that_was_not_reached_is_named(silent_ms: int, told: bool) -> None:
    """One that has gone is registrations/stale."""
    observer = replica(4, silent_ms=silent_ms, behind_ms=silent_ms)
    quorum = quorum_info(map(replica, (1, 2, 3)), [observer])
    known = KnownEndpoint(address=address(4), origin=EndpointOrigin.REGISTRATION, node_id=4)
    evidence = evidence_of(
        controller(1, quorum), controller(2), controller(3), silent(address(4)), endpoints=[known]
    )
    assert ("nodes/not-asked" in {f.id for f in examine(evidence, ["quorum"])}) is told
