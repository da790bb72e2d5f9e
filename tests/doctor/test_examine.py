"""The report as a whole: what is healthy is ok, `only` selects, ids are those that are listed."""

from __future__ import annotations

import pytest

from kwire.doctor.evidence import Evidence
from kwire.doctor.examine import CHECKS, KINDS, examine, select, worst
from kwire.doctor.finding import FindingVerdict
from kwire.errors import InvalidValue
from tests.support.doctor.evidence import address, evidence_of, healthy, silent


def test_of_a_healthy_quorum_each_subject_says_that_it_is_ok() -> None:
    findings = examine(healthy())
    assert [finding.id for finding in findings] == [f"{subject}/ok" for subject in CHECKS]
    assert worst(findings) is FindingVerdict.OK


def test_without_an_answer_nothing_is_said_to_be_ok() -> None:
    findings = examine(evidence_of(silent(address(1)), silent(address(2))))
    assert [finding.id for finding in findings] == ["nodes/none-answer"]
    assert len(findings[0].evidence) == 2
    assert worst(findings) is FindingVerdict.PROBLEM


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
