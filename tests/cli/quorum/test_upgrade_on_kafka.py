"""A static quorum of real Kafka walked to dynamic voters, each step as the plan names it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from uuid import UUID

import pytest

from kwire.doctor.examine import examine
from kwire.doctor.gather import gather
from kwire.doctor.upgrade_plan import PlanStep, StepState, upgrade_plan
from kwire.messages.a70_controller_registration import (
    ControllerRegistrationRequest,
    ControllerRegistrationResponse,
    Feature,
)
from kwire.net.connection import Connection
from real_kafka import Cluster, Layout
from tests.support.cli.command import Command
from tests.support.controller.live.admin_session import leader_of
from tests.support.eventually import eventually_blocking
from tests.support.real_kafka.own_cluster import OwnCluster

LAYOUT = Layout(controllers=(3000, 3001, 3002), brokers=(1,), version="4.4.0", static=True)
GONE = 3999
"""A controller of Kafka 3.8 that is registered and gone."""


def plan(cluster: Cluster) -> tuple[PlanStep, ...]:
    """Return the plan, with one controller as bootstrap."""
    first = cluster.controllers[3000].controller_address
    return upgrade_plan(asyncio.run(gather([first], all_brokers=True)))


def next_step(cluster: Cluster) -> PlanStep | None:
    """Return the step that is next."""
    return next((step for step in plan(cluster) if step.state is StepState.NEXT), None)


@pytest.mark.nightly
def test_a_static_quorum_is_upgraded_as_the_plan_says(
    own_cluster: OwnCluster, kwire: Command
) -> None:
    with own_cluster(LAYOUT) as cluster:
        _an_old_registration_holds_it_up(cluster, kwire)
        at = ("--bootstrap-controller", cluster.bootstrap_controllers)
        step = next_step(cluster)
        assert step is not None
        assert step.command == "kwire features upgrade kraft.version=1"
        leader = cluster.nodes[asyncio.run(_leader_id(cluster))]
        leader.stop()  # the next one refuses the level until its voters have told what they support
        leader.start()
        _raise_the_level(cluster, kwire, step.command)
        rolled = list(_roll(cluster))
        assert sorted(rolled) == [1, 3000, 3001, 3002]
        assert rolled[-1] == 1
        assert {step.state for step in plan(cluster)} == {StepState.DONE}
        run = kwire("quorum", "upgrade", "--plan", "-o", "json", *at)
        assert {step["state"] for step in run.json["steps"]} == {"done"}
        assert kwire("quorum", "remove-controller", "3002", "--dry-run", *at).code == 0


def _raise_the_level(cluster: Cluster, kwire: Command, command: str) -> None:
    """Raise kraft.version, with the patience that the plan asks for after an election.

    A leader hears from each voter what it supports one fetch timeout after its election, by
    UpdateRaftVoter (FollowerState.updateVoterPeriodMs), and refuses until then.
    """
    at = (*command.split()[1:], "--bootstrap-controller", cluster.bootstrap_controllers)
    for arguments in ((*at, "--dry-run"), at):
        run = eventually_blocking(
            partial(kwire, *arguments),
            lambda run: run.code == 0 or "not all of the voters support it" not in run.out,
            pause=1.0,
        )
        assert run.code == 0, run


def _an_old_registration_holds_it_up(cluster: Cluster, kwire: Command) -> None:
    """Register a controller without kraft.version: the leader refuses, the plan says so before."""
    at = ("--bootstrap-controller", cluster.bootstrap_controllers)
    asyncio.run(_register(cluster))
    step = eventually_blocking(lambda: next_step(cluster), lambda step: step and step.number == 1)
    assert step is not None
    assert f"controller {GONE} does not support kraft.version 1" in step.evidence[0]
    refused = kwire("features", "upgrade", "kraft.version=1", "--dry-run", *at)
    assert f"Controller {GONE} does not support this feature" in refused.out
    found = examine(asyncio.run(gather([cluster.controllers[3000].controller_address])))
    stale = next(finding for finding in found if finding.id == "registrations/stale")
    assert stale.advice.endswith(f"kwire quorum forget {GONE}")
    assert "registrations/blocks-upgrade" in {finding.id for finding in found}
    assert kwire("quorum", "forget", str(GONE), "--yes", *at).code == 0
    eventually_blocking(lambda: next_step(cluster), lambda step: step and step.number == 3)


async def _leader_id(cluster: Cluster) -> int:
    addresses = {node_id: node.controller_address for node_id, node in cluster.controllers.items()}
    return await leader_of({id_: (at.host, at.port) for id_, at in addresses.items()})


async def _register(cluster: Cluster) -> None:
    """Send the active controller the registration of a node that there is not."""
    at = cluster.nodes[await _leader_id(cluster)].controller_address
    request = ControllerRegistrationRequest(
        controller_id=GONE,
        incarnation_id=UUID(int=GONE),
        features=[
            Feature(name="metadata.version", min_supported_version=1, max_supported_version=20)
        ],
    )
    async with await Connection.open(at.host, at.port, client_id="test") as connection:
        answer = await connection.send(request)
    assert isinstance(answer, ControllerRegistrationResponse)
    assert answer.error_code == 0


def _roll(cluster: Cluster) -> Iterator[int]:
    """Change node after node as long as the plan names one, and yield its id."""
    for _ in cluster.nodes:
        step = eventually_blocking(lambda: next_step(cluster), lambda step: step is not None)
        assert step is not None
        assert step.node_id is not None
        node = cluster.nodes[step.node_id]
        with _restarted(cluster, step.node_id):
            node.configure(
                {
                    "controller.quorum.voters": "",
                    "controller.quorum.bootstrap.servers": cluster.bootstrap_controllers,
                }
            )
        yield step.node_id


@contextmanager
def _restarted(cluster: Cluster, node_id: int) -> Iterator[None]:
    """Stop a node, change it in between, start it, and wait until the plan calls it done."""
    node = cluster.nodes[node_id]
    node.stop()
    yield
    node.start()
    eventually_blocking(
        lambda: {step.node_id: step.state for step in plan(cluster) if step.node_id is not None},
        lambda states: states.get(node_id) is StepState.DONE,
    )
