"""Advice about a missing answer comes from its reason, in whichever check it is missing."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace

import pytest

from kwire.admin.controller_state import FollowedLeader
from kwire.codec.declaration import Response
from kwire.doctor.evidence import (
    EndpointOrigin,
    Evidence,
    KnownEndpoint,
)
from kwire.doctor.examine import examine
from kwire.doctor.finding import Finding
from kwire.doctor.gather import gather
from kwire.doctor.quorum_check import takes_part, without, works
from kwire.error_codes import ErrorCode
from kwire.messages.a01_fetch import FetchRequest, FetchResponse
from kwire.messages.a32_describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResponse,
    DescribeConfigsResult,
)
from kwire.net.address import Address
from kwire.net.frames import RequestFrame
from kwire.net.security import Security
from kwire.net.timeouts import Timeouts
from kwire.net.tls import ClientTls
from scripted_node import HANG_UP, SILENCE, Script
from tests.support.doctor.controllers import controllers
from tests.support.doctor.evidence import (
    address,
    controller,
    evidence_of,
    healthy,
    quorum_info,
    replica,
    silent,
)
from tests.support.virtual_time import in_virtual_time

SHORT = Timeouts(operation=2.0, connect=2.0, request=2.0)


def denied(request: RequestFrame) -> Response:
    code = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
    if isinstance(request.body, FetchRequest):
        return FetchResponse(error_code=code)
    return DescribeConfigsResponse(results=[DescribeConfigsResult(error_code=code)])


ANSWERS: Mapping[str, tuple[Script | None, str]] = {
    "denied": (denied, "as a super user"),
    "silent": (lambda _: SILENCE, "for a long pause"),
    "hangs up": (lambda _: HANG_UP, "read the log of controller"),
    "too old": (None, "upgrade controller"),
}
"""Answers of a node, each with the part of the advice that only this reason has."""


@pytest.mark.parametrize("answer", ANSWERS)
@in_virtual_time
async def test_every_check_advises_by_the_reason(answer: str) -> None:
    script, _ = ANSWERS[answer]
    async with controllers(1) as scripted:
        (node,) = scripted.quorum.nodes
        for request in (FetchRequest, DescribeConfigsRequest):
            if script is None:
                del node.scripts[request]
            else:
                node.scripts[request] = script
        at = Address.parse(node.address)
        evidence = await gather([at], with_image=False, timeouts=SHORT)
    (answers,) = evidence.nodes
    # Nobody told its id, which only an answer to DescribeQuorum would; nobody leads.
    known = KnownEndpoint(address=at, origin=EndpointOrigin.VOTER_SET, node_id=0)
    anonymous = replace(answers, node_id=None, quorum=None)
    evidence = replace(evidence, nodes=(anonymous,), endpoints=(known,), principal=None)
    found = {finding.id: finding.advice for finding in examine(evidence)}
    told = replace(evidence, nodes=(replace(anonymous, node_id=0),))
    found["check/not-told"] = takes_part(told, 0).advice
    for id in (
        "nodes/refused",
        "quorum/leader-unknown",
        "endpoints/unnamed",
        "security/not-told",
        "check/not-told",
    ):
        assert {name: part in found[id] for name, (_, part) in ANSWERS.items()} == {
            name: name == answer for name in ANSWERS
        }, (id, found[id])
        assert "kwire " in found[id]


def unreached(finding_id: str, evidence: Evidence) -> Finding:
    (finding,) = (finding for finding in examine(evidence) if finding.id == finding_id)
    return finding


async def test_tls_at_a_plain_port_is_no_matter_of_addresses() -> None:
    async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Take the handshake for a frame that is too large, as Kafka's plain listeners do."""
        await reader.read(4)
        writer.close()

    async with await asyncio.start_server(hang_up, "127.0.0.1", 0) as server:
        at = Address(*server.sockets[0].getsockname())
        tls = Security(tls=ClientTls())
        evidence = await gather([at], with_image=False, security=tls, timeouts=SHORT)
    finding = unreached("nodes/none-answer", evidence)
    step, command = finding.fixes[0].steps
    assert step.startswith(f"leave TLS out for the node at {at}")
    assert command == "kwire doctor --only nodes"


HUNG = (
    "c1:9 accepted the connection but did not answer ApiVersions within 10.0 s: it is slow, or no"
    " Kafka listener, or it wants TLS"
)
REASONS = {
    "c1:9 refused the connection: nothing listens there; start the node, or check the address": (
        "start the node at "
    ),
    "c1:9 cannot be resolved: check the name of the host": "correct the name of the host",
    "c1:9 could not be connected to within 9.0 s: it is slow, or the address is wrong": "firewall",
    HUNG: "a long pause",
    "c1:9 closed the connection instead of answering ApiVersions: check that it is a Kafka"
    " listener, and whether it wants TLS": "security.protocol=SSL",
    "SASL_AUTHENTICATION_FAILED: c1:9 refused the login": "user and password",
    "c1:9 shows a certificate that is not accepted: certificate has expired": "truststore",
}


@pytest.mark.parametrize("reason", REASONS)
def test_an_address_without_an_answer_is_mended_by_its_reason(reason: str) -> None:
    node = replace(silent(address(9)), failure=reason)
    for id, evidence in (
        ("nodes/none-answer", evidence_of(node)),
        ("nodes/unreachable", evidence_of(node, *healthy().nodes)),
    ):
        finding = unreached(id, evidence)
        assert REASONS[reason] in finding.fixes[0].text
        assert finding.fixes[0].commands


def test_a_subject_without_evidence_names_the_finding_to_mend_and_the_command() -> None:
    findings = examine(evidence_of(silent(address(1))), ["brokers"])
    assert findings[-1].fixes[0].steps == ("mend nodes/none-answer", "kwire doctor --only brokers")


def test_without_a_leader_it_is_not_known_if_a_voter_fetches() -> None:
    nobody = FollowedLeader(leader_id=None, epoch=14)
    evidence = evidence_of(controller(1, follows=nobody, registered=(1, 2)), silent(address(2)))
    finding = unreached("endpoints/nobody-answers", evidence)
    assert "it is not known if it fetches" in finding.sentence
    assert "does not fetch" not in finding.sentence
    assert "silent" not in finding.advice


def test_a_controller_that_did_not_say_may_know_a_leader() -> None:
    nobody = FollowedLeader(leader_id=None, epoch=14)
    evidence = evidence_of(controller(1, follows=nobody), controller(2, follows=None))
    assert unreached("quorum/no-leader", evidence).sentence.startswith("no leader is known")
    assert "nobody leads" not in without(evidence, 1).sentence


def test_a_leader_that_may_not_be_asked_is_not_called_unreachable() -> None:
    reason = "CLUSTER_AUTHORIZATION_FAILED"
    leader = replace(controller(1), refusals={"DescribeQuorum": reason})
    evidence = evidence_of(leader, controller(2))
    found = {finding.id: finding for finding in examine(evidence)}
    assert "quorum/leader-unreachable" not in found
    probed = takes_part(evidence, 2)
    assert probed.id == "check/not-told"
    for finding in (found["quorum/leader-unknown"], probed):
        assert "does not describe the quorum" in finding.sentence
        assert "as a super user" in finding.advice


@pytest.mark.parametrize("reason", REASONS)
def test_a_probe_that_reaches_nobody_advises_by_the_reason(reason: str) -> None:
    node = replace(silent(address(9)), failure=reason)
    evidence = evidence_of(node)
    for finding in (takes_part(evidence, 9), *works(evidence)):
        assert finding.id == "check/no-answer"
        assert REASONS[reason] in finding.advice
        assert "kwire quorum check" in finding.advice


def test_a_probe_of_an_id_that_nobody_has_names_the_command_that_lists_them() -> None:
    finding = takes_part(healthy(), 99)
    assert finding.fixes[1].steps == ("kwire quorum status",)


def test_a_voter_whose_process_hangs_is_not_to_be_started() -> None:
    """As one that got SIGSTOP: its port takes connections, and nobody answers."""
    hung = replace(silent(address(2)), failure=HUNG)
    quorum = quorum_info([replica(1), replica(2, silent_ms=9_000, behind_ms=9_000), replica(3)])
    evidence = evidence_of(controller(1, quorum), hung, controller(3))
    for id in ("quorum/voter-silent", "endpoints/nobody-answers"):
        step = unreached(id, evidence).fixes[0].steps[0]
        assert step.startswith("look at controller 2 for a long pause")
