"""KIP-841's invariants are seen broken where the controller's handlers are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from kwire.controller.handlers import alter_partition, broker_registration
from kwire.controller.replicas.replication_control import ReplicationControl
from kwire.controller.state_machine.quorum_controller import PendingResponse, QuorumController
from tests.support.simulator.search import broken_invariant

Patch = pytest.MonkeyPatch
EITHER = {"EligibleIsr", "EligibleLeader"}


def test_an_isr_with_a_replica_that_is_not_eligible_is_seen(monkeypatch: Patch) -> None:
    monkeypatch.setattr(alter_partition, "_is_eligible", lambda replica, context: True)
    assert broken_invariant("fencedAndStoppingBrokers", seed=0) == "EligibleIsr"


def test_a_leader_that_is_fenced_is_seen(monkeypatch: Patch) -> None:
    monkeypatch.setattr(ReplicationControl, "acceptable", lambda *_: lambda replica: True)
    assert broken_invariant("fencedAndStoppingBrokers", seed=0) == "EligibleLeader"


@pytest.mark.parametrize("rule", ["fenced", "unregistered"])
def test_a_broker_that_goes_and_stays_in_isrs_is_seen(monkeypatch: Patch, rule: str) -> None:
    original: Callable[..., list[Any]] = getattr(ReplicationControl, rule)
    monkeypatch.setattr(ReplicationControl, rule, lambda self, broker: original(self, broker)[-1:])
    assert broken_invariant("brokersInAStorm", seed=1) in EITHER


def test_a_broker_that_stops_and_goes_on_leading_is_seen(monkeypatch: Patch) -> None:
    original: Callable[..., list[Any]] = ReplicationControl.in_controlled_shutdown

    def in_controlled_shutdown(self: ReplicationControl, broker: Any) -> list[Any]:
        return original(self, broker)[:1]

    monkeypatch.setattr(ReplicationControl, "in_controlled_shutdown", in_controlled_shutdown)
    assert broken_invariant("fencedAndStoppingBrokers", seed=0) in EITHER


def test_a_broker_that_restarts_before_it_is_fenced_and_leads_is_seen(monkeypatch: Patch) -> None:
    class Forgetful:
        def stopped(self, broker_id: int, *, clean: bool) -> list[Any]:
            return []

    monkeypatch.setattr(broker_registration, "replication_control", lambda context: Forgetful())
    assert broken_invariant("brokersInAStorm", seed=46) in EITHER


def test_an_answer_before_the_commit_is_seen(monkeypatch: Patch) -> None:
    original: Callable[..., PendingResponse] = QuorumController.handle

    def handle(self: QuorumController, *arguments: Any, **named: Any) -> PendingResponse:
        return replace(original(self, *arguments, **named), wait_for=None)

    monkeypatch.setattr(QuorumController, "handle", handle)
    assert broken_invariant("brokersInAStorm", seed=0) == "AcknowledgedTopic"
