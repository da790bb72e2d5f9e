"""Voters' endpoints: nobody, somebody else, a wildcard, a name that does not resolve."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kwire.admin.controller_state import FollowedLeader
from kwire.doctor.checks.endpoints import check
from kwire.doctor.evidence import (
    EndpointOrigin,
    Evidence,
    KnownEndpoint,
    NodeEvidence,
    Unreachable,
)
from kwire.doctor.finding import Finding, FindingVerdict
from kwire.net.address import Address
from tests.support.doctor.evidence import (
    address,
    broker_at,
    controller,
    evidence_of,
    healthy,
    quorum_info,
    replica,
    silent,
)

TWO = address(2)


def judged(at_two: NodeEvidence, *, silent_ms: int = 0) -> Finding:
    """Return the finding about voter 2, whose endpoint is answered so."""
    second = replica(2, silent_ms=silent_ms, behind_ms=silent_ms)
    quorum = quorum_info([replica(1), second, replica(3)])
    (finding,) = check(evidence_of(controller(1, quorum), at_two, controller(3)))
    return finding


def test_a_voter_that_fetches_and_is_not_reached_is_a_problem() -> None:
    finding = judged(silent(TWO))
    assert (finding.id, finding.verdict) == ("endpoints/nobody-answers", FindingVerdict.PROBLEM)
    assert finding.sentence == (
        "voter 2 advertises CONTROLLER://10.0.0.2:9093, where nobody answers from here, though it"
        " fetches"
    )


def test_without_a_leader_a_registered_controller_is_not_called_a_voter() -> None:
    """Its registration stays when a controller was removed; only a leader tells who votes."""
    evidence = evidence_of(
        controller(1, follows=FollowedLeader(leader_id=None, epoch=3), registered=(1, 5)),
        silent(address(5)),
    )
    (finding,) = check(evidence)
    assert finding.sentence.startswith("controller 5 advertises 10.0.0.5:9093, where nobody")


def test_a_voter_that_is_down_is_a_warning_of_its_endpoint() -> None:
    finding = judged(silent(TWO), silent_ms=60_000)
    assert finding.verdict is FindingVerdict.WARNING
    assert finding.fixes[0].steps == ("start controller 2", "kwire quorum check --node 2")


def test_another_controller_at_the_endpoint_is_named() -> None:
    finding = judged(controller(5, at=TWO))
    assert finding.id == "endpoints/other-node"
    assert finding.sentence.endswith("where controller 5 answers")


def test_a_broker_at_the_endpoint_is_named() -> None:
    assert judged(broker_at(11, TWO)).sentence.endswith("where broker 11 answers")


def test_another_cluster_at_the_endpoint_is_named() -> None:
    finding = judged(controller(2, cluster_id="other"))
    assert finding.id == "endpoints/other-cluster"


def test_a_node_that_does_not_say_who_it_is_is_not_taken_for_the_voter() -> None:
    finding = judged(controller(None, at=TWO))
    assert (finding.id, finding.verdict) == ("endpoints/unnamed", FindingVerdict.UNKNOWN)


def test_a_name_that_does_not_resolve_is_said_to_be_that() -> None:
    assert judged(silent(TWO, Unreachable.UNRESOLVED)).id == "endpoints/unresolvable"


def registered_at(host: str, *, asked: str = "10.0.0.1") -> Evidence:
    """Return evidence of voter 1, asked at a host, which registered another host."""
    at = Address(asked, 9093)
    node = controller(1, quorum_info([replica(1)]), at=at)
    other = KnownEndpoint(
        address=Address(host, 9093), origin=EndpointOrigin.REGISTRATION, node_id=1
    )
    return Evidence(
        nodes=(node, replace(node, address=other.address)),
        endpoints=(KnownEndpoint(address=at, origin=EndpointOrigin.BOOTSTRAP), other),
    )


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_a_wildcard_is_a_problem_whoever_answers_there(host: str) -> None:
    (finding,) = check(registered_at(host))
    assert finding.id == "endpoints/wildcard"


def test_localhost_is_wrong_only_for_a_cluster_that_is_asked_from_elsewhere() -> None:
    (finding,) = check(registered_at("localhost"))
    assert finding.id == "endpoints/loopback"
    assert [f.id for f in check(registered_at("localhost", asked="127.0.0.1"))] == ["endpoints/ok"]


def test_registered_endpoints_of_controllers_that_do_not_vote_are_not_judged() -> None:
    gone = KnownEndpoint(address=address(9), origin=EndpointOrigin.REGISTRATION, node_id=9)
    evidence = healthy()
    some = Evidence(
        nodes=(*evidence.nodes, silent(address(9))), endpoints=(*evidence.endpoints, gone)
    )
    assert [finding.id for finding in check(some)] == ["endpoints/ok"]


def with_protocols(at_two: NodeEvidence, protocol: str) -> Evidence:
    """Return evidence gathered in plain text; voter 2 registered its listener with a protocol."""
    quorum = quorum_info([replica(1), replica(2), replica(3)])
    known = KnownEndpoint(
        address=TWO,
        origin=EndpointOrigin.REGISTRATION,
        node_id=2,
        listener="CONTROLLER",
        protocol=protocol,
    )
    evidence = evidence_of(controller(1, quorum), at_two, controller(3), endpoints=[known])
    return replace(evidence, protocol="PLAINTEXT")


def test_a_listener_of_another_protocol_is_not_called_silent() -> None:
    (finding,) = check(with_protocols(silent(TWO), "SASL_SSL"))
    assert (finding.id, finding.verdict) == ("endpoints/other-protocol", FindingVerdict.UNKNOWN)
    assert finding.sentence == (
        "voter 2 advertises CONTROLLER://10.0.0.2:9093, whose protocol is SASL_SSL; we speak"
        " PLAINTEXT"
    )


def test_a_silent_listener_of_our_protocol_stays_a_problem() -> None:
    (finding,) = check(with_protocols(silent(TWO), "PLAINTEXT"))
    assert finding.id == "endpoints/nobody-answers"
