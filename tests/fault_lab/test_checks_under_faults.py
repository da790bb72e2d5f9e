"""Checks under faults: what faults excuse, what is repeated, what is an anomaly."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from kwire.conform.check import Check
from kwire.conform.reaction import ConnectionState
from kwire.conform.registry import all_checks
from kwire.conform.result import CheckResult
from kwire.conform.target import Target
from kwire.conform.vocabulary import ConformanceVerdict, Need
from kwire.fault_lab import checks_under_faults
from kwire.fault_lab.checks_under_faults import (
    ChecksUnderFaults,
    FailedCheck,
    is_excused,
    may_run,
)
from kwire.fault_lab.history import RunHistory
from kwire.fault_lab.session import WorkloadRun
from kwire.net.address import Address
from kwire.testing.faulty_network.topology import FaultNode, FaultTopology

PASS, FAIL = ConformanceVerdict.PASS, ConformanceVerdict.FAIL
HERE = Address("127.0.0.1", 1)
TARGET = Target(address=HERE, nodes={})


def failed(came: str, connection: ConnectionState = ConnectionState.OPEN) -> CheckResult:
    return CheckResult(id="x/y/1", answer=FAIL, came=came, connection=connection)


@pytest.mark.parametrize(
    ("result", "excused"),
    [
        (failed("no answer, the connection is closed", ConnectionState.CLOSED), True),
        (failed("no answer, the connection stays open"), True),
        (failed("error 41 NOT_CONTROLLER"), True),
        (failed("error 7 REQUEST_TIMED_OUT"), True),
        (failed("127.0.0.1:1 did not answer CreateTopics v7 within 5.0 s"), True),
        (failed("no error"), False),
        (failed("error 3 UNKNOWN_TOPIC_OR_PARTITION"), True),
        (failed("error 37 INVALID_PARTITIONS"), False),
        (failed("3 partitions"), False),
    ],
)
def test_faults_excuse_what_they_can_explain(result: CheckResult, excused: bool) -> None:
    assert is_excused(result) is excused


def test_no_check_runs_that_spoils_a_cluster_or_stands_alone() -> None:
    chosen = [check for check in all_checks() if may_run(check)]
    assert chosen
    assert not any(check.alone or Need.THROW_AWAY in check.needs for check in chosen)


def workload_run() -> WorkloadRun:
    node = FaultNode(node_id=1, is_controller=True, advertised=HERE, upstream=HERE)
    return WorkloadRun(
        topology=FaultTopology(nodes=(node,)),
        history=RunHistory(),
        prefix="kwire-conform-faults-x",
        rate=1,
        random=Random(1),
    )


@pytest.mark.parametrize("again", [PASS, FAIL])
async def test_a_deviation_is_repeated_on_the_healed_cluster(
    monkeypatch: pytest.MonkeyPatch, again: ConformanceVerdict
) -> None:
    async def run_check(check: Check, target: Target) -> CheckResult:
        return CheckResult(id=check.id, answer=again)

    monkeypatch.setattr(checks_under_faults, "run_check", run_check)
    check: Any = all_checks()[0]
    checks = ChecksUnderFaults(workload_run())
    checks.failed[check.id] = FailedCheck(check, TARGET, failed("3 partitions"), 7.0)
    anomalies = await checks.repeat()
    if again is FAIL:
        assert anomalies == []
        assert list(checks.without_faults) == [check.id]
    else:
        (anomaly,) = anomalies
        assert anomaly.name == "check"
        assert "3 partitions" in anomaly.came
