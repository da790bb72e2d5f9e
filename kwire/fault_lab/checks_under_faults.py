"""The checks of `kwire conform`, run again and again through the faulty network.

Faults excuse what they can explain: an answer that was lost, a connection that ended, an error that
asks to try again. Any other deviation is repeated on the healed cluster. If it comes there, too, it
is one of the server's without faults; if not, it is an anomaly of this run.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

from kwire.conform.check import Check
from kwire.conform.reaction import ConnectionState
from kwire.conform.registry import all_checks
from kwire.conform.result import CheckResult
from kwire.conform.run_check import run_check
from kwire.conform.target import Target, examine_target
from kwire.conform.vocabulary import ConformanceVerdict, Deviation, Need
from kwire.error_codes import ErrorCode, is_retriable
from kwire.errors import KwireError
from kwire.fault_lab.anomaly import Anomaly
from kwire.fault_lab.session import WorkloadRun
from kwire.net.address import Address
from kwire.net.security import Security
from kwire.testing.faulty_network.topology import FaultTopology

RULE = "a check that holds without faults is not contradicted under faults"
PAUSE = 0.5
"""Mean seconds between two checks: the workload is the load."""

REPEATED = 40
"""Checks that are repeated at the end, at most."""

_FAIL = ConformanceVerdict.FAIL
_LOST = ("no answer", "a connection", "no end", "closed", "reset", "within", "did not answer")
_TRANSIENT = (
    *(code.name for code in ErrorCode if is_retriable(code)),
    # Not retriable for clients, and yet of a moment: a group rebalances, a producer was fenced.
    "REBALANCE_IN_PROGRESS",
    "UNKNOWN_MEMBER_ID",
    "ILLEGAL_GENERATION",
    "INVALID_PRODUCER_EPOCH",
    "PRODUCER_FENCED",
    "NOT_CONTROLLER",
    # All brokers were fenced; or a broker sent a creation on a second time, since the controller's
    # first answer was lost (NodeToControllerChannelManager).
    "INVALID_REPLICATION_FACTOR",
    "TOPIC_ALREADY_EXISTS",
)


@dataclass(frozen=True, slots=True)
class FailedCheck:
    """A check that failed under faults, and where."""

    check: Check
    target: Target
    result: CheckResult
    at: float


@dataclass(slots=True, eq=False)
class ChecksUnderFaults:
    """counts: results by verdict; `excused` are those that the faults explain."""

    run: WorkloadRun
    counts: dict[str, int] = field(default_factory=dict)
    failed: dict[str, FailedCheck] = field(default_factory=dict)
    without_faults: dict[str, str] = field(default_factory=dict)
    _targets: list[Target] = field(default_factory=list)

    async def prepare(self) -> None:
        """Ask every node what it is, while nothing is disturbed yet."""
        for address in addresses(self.run.topology):
            target = await _examined(address, self.run.security)
            if target is not None:
                self._targets.append(target)

    async def work(self) -> None:
        """Run checks one after the other until the run stops."""
        random = Random(f"kwire checks {self.run.prefix}")
        checks = [check for check in all_checks() if may_run(check)]
        while self._targets and not self.run.stopping:
            for check in random.sample(checks, len(checks)):
                if self.run.stopping:
                    return
                target = random.choice(self._targets)
                at = self.run.clock()
                self._take(FailedCheck(check, target, await run_check(check, target), at))
                await asyncio.sleep(random.uniform(0, 2 * PAUSE))

    def _take(self, ended: FailedCheck) -> None:
        result = ended.result
        kind = result.verdict.value
        if result.verdict is _FAIL:
            kind = "excused" if is_excused(result) else "FAIL"
        self.counts[kind] = self.counts.get(kind, 0) + 1
        if kind == "FAIL":
            self.failed.setdefault(ended.check.id, ended)

    async def repeat(self) -> list[Anomaly]:
        """Repeat what failed on the healed cluster; return what fails only under faults."""
        anomalies = []
        for failed in list(self.failed.values())[:REPEATED]:
            result = await run_check(failed.check, failed.target)
            if result.verdict is _FAIL:
                self.without_faults[failed.check.id] = f"{failed.target.address}: {result.came}"
            else:
                anomalies.append(_anomaly(failed))
        return anomalies


def may_run(check: Check) -> bool:
    """Return True for a check that works beside a workload and leaves the cluster as it is."""
    return not check.alone and not check.needs & (
        Need.THROW_AWAY | Need.EMPTY | Need.SASL | Need.TLS
    )


def is_excused(result: CheckResult) -> bool:
    """Return True if faults of the network explain a deviation."""
    if result.connection is not ConnectionState.OPEN:
        return True
    text = f"{result.came} {result.reason}"
    # What did not come in time, as `a leader of … within 20 s`, stands in what was expected.
    late = result.came == "none" and " within " in result.expected
    return late or any(word in text for word in (*_LOST, *_TRANSIENT))


def addresses(topology: FaultTopology) -> Sequence[Address]:
    """Return the address of every node in the faulty network."""
    controllers = [topology.advertised(id, controller=True) for id in topology.controllers]
    return controllers + [topology.advertised(id, controller=False) for id in topology.brokers]


async def _examined(address: Address, security: Security) -> Target | None:
    try:
        return await examine_target(address, security)
    except (Deviation, KwireError, OSError, TimeoutError):
        return None


def _anomaly(failed: FailedCheck) -> Anomaly:
    result = failed.result
    came = (
        f"at {failed.at:.1f} s {failed.target.address} gave {result.came!r}, expected"
        f" {result.expected!r}: {failed.check.sentence}"
    )
    return Anomaly(rule=RULE, about=failed.check.id, came=came, name="check")
