"""Listeners of controllers: TLS, login, and SCRAM that needs the log it guards."""

from __future__ import annotations

from kwire.doctor.checks.security import check
from kwire.doctor.finding import FindingVerdict
from kwire.net.address import Address
from tests.support.doctor.evidence import controller, evidence_of, quorum_info, replica

QUORUM = quorum_info(map(replica, (1, 2)))
PLAINTEXT = {"listener.security.protocol.map": "CONTROLLER:PLAINTEXT,BROKER:SSL"}
SCRAM = {
    "listener.security.protocol.map": "CONTROLLER:SASL_SSL",
    "sasl.mechanism.controller.protocol": "SCRAM-SHA-512",
}


def test_a_plaintext_listener_is_a_warning_beyond_this_machine() -> None:
    (finding,) = check(evidence_of(controller(1, QUORUM, configs=PLAINTEXT)))
    assert (finding.id, finding.verdict) == ("security/plaintext", FindingVerdict.WARNING)
    local = controller(1, QUORUM, configs=PLAINTEXT, at=Address("127.0.0.1", 9093))
    (finding,) = check(evidence_of(local))
    assert finding.verdict is FindingVerdict.INFO


def test_protocols_that_differ_are_named_by_node() -> None:
    first, second = check(evidence_of(controller(1, QUORUM, configs=PLAINTEXT), controller(2)))
    assert first.sentence == "the listener of controller 1 has neither TLS nor login"
    assert second.evidence == ("controller 1: PLAINTEXT", "controller 2: SSL")


def test_scram_between_controllers_is_a_problem_once_nobody_leads() -> None:
    (leading,) = check(evidence_of(controller(1, QUORUM, configs=SCRAM)))
    assert (leading.id, leading.verdict) == (
        "security/scram-between-controllers",
        FindingVerdict.WARNING,
    )
    (finding,) = check(evidence_of(controller(1, configs=SCRAM)))
    assert finding.verdict is FindingVerdict.PROBLEM


def test_a_login_without_tls_is_a_warning() -> None:
    configs = {"listener.security.protocol.map": "CONTROLLER:SASL_PLAINTEXT"}
    (finding,) = check(evidence_of(controller(1, QUORUM, configs=configs)))
    assert finding.id == "security/no-tls"


def test_without_configuration_the_connection_itself_is_evidence() -> None:
    nameless = controller(1, QUORUM, configs={"controller.listener.names": None})
    (finding,) = check(evidence_of(nameless))
    assert finding.sentence == "the controllers' listeners speak SSL"
