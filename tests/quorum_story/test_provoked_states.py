"""Real quorums are brought into each state, and their logs are explained on the spot."""

from __future__ import annotations

import os

import pytest

from kwire.quorum_story.explain import explain
from kwire.quorum_story.log_source import log_file
from stuck_quorums import disks
from stuck_quorums.bench import Bench, NodeLogs
from stuck_quorums.states import OWN, SHARED, STATES, State

BY_DAY = ("leader_without_majority", "leader_is_silent", "leader_is_stopped", "locked")
OTHERS = tuple(state.name for state in SHARED if state.name not in BY_DAY)
DISKS = (disks.disk_full.__name__, disks.read_only.__name__)

pytestmark = pytest.mark.usefixtures("kafka")


def missing(state: State, logs: NodeLogs) -> set[str]:
    """The causes of a state that are not found in the logs, whole as the nodes wrote them."""
    sources = [log_file(f"{node}.log", log.splitlines()) for node, log in logs.items()]
    causes = {event.cause.id for event in explain(sources).events if event.cause is not None}
    return set(state.causes) - causes


def missing_of(version: str, *names: str) -> dict[str, set[str]]:
    """Bring one quorum of a release into these states."""
    with Bench(version) as bench:
        bench.cluster.start()
        results = {name: missing(STATES[name], STATES[name].on(version, bench)) for name in names}
    return {name: causes for name, causes in results.items() if causes}


def test_what_a_quorum_goes_through_is_explained() -> None:
    assert missing_of("4.3.1", *BY_DAY) == {}


@pytest.mark.nightly
def test_what_else_a_quorum_goes_through_is_explained() -> None:
    assert missing_of("4.3.1", *OTHERS) == {}


@pytest.mark.releases
@pytest.mark.parametrize("version", ["3.9.1", "4.4.0"])
def test_what_a_quorum_of_another_release_goes_through_is_explained(version: str) -> None:
    assert missing_of(version, *BY_DAY, *OTHERS) == {}


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("version", "name"),
    [(version, state.name) for state in OWN for version in state.releases],
)
def test_a_quorum_in_a_state_of_its_own_is_explained(version: str, name: str) -> None:
    if name in DISKS and os.geteuid() != 0:
        pytest.skip("Only root may mount the small disk of this test.")
    assert missing(STATES[name], STATES[name].on(version)) == set()
