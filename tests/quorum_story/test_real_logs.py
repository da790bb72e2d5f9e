"""Excerpts of real logs: nodes of Kafka 3.9.1, 4.3.1 and 4.4.0 that were brought into each state.

fixtures/stuck_quorums brings real quorums into these states, and cuts the logs that are read here.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from kwire.quorum_story.explain import explain
from kwire.quorum_story.log_source import log_file
from kwire.quorum_story.story import Story
from kwire.quorum_story.wording import fixes
from stuck_quorums.excerpts import LINES, neutral
from stuck_quorums.states import RELEASES, STATES, State

LOGS = Path(__file__).with_name("logs")

ORDINARY = frozenset(
    (
        *("leader.lost-majority", "election.no-majority", "stop.signal"),
        *("network.timeout", "network.tls-handshake"),
    )
)
"""Causes that follow from others, too (a node that is away is missed), or bring them about."""


def logs_of(state: State, release: str) -> list[Path]:
    return sorted((LOGS / release).glob(f"{state.name}.*.log"))


def story_of(files: list[Path]) -> Story:
    return explain([log_file(file.name, file.read_text().splitlines()) for file in files])


def found(story: Story) -> set[str]:
    return {event.cause.id for event in story.events if event.cause is not None}


@pytest.mark.parametrize("release", RELEASES)
def test_a_state_is_explained_with_a_line_and_a_remedy(release: str) -> None:
    missing = {}
    for state in STATES.values():
        if release not in state.releases:
            continue
        story = story_of(logs_of(state, release))
        if lacking := set(state.causes) - found(story):
            missing[state.name] = lacking
        for event in story.events:
            if event.cause is not None and event.cause.id in state.causes:
                assert event.text, state.name
                assert fixes(event), state.name
    assert missing == {}


@pytest.mark.parametrize("release", RELEASES)
def test_every_warning_of_these_logs_is_understood(release: str) -> None:
    strange = {
        file.name: [event.text for event in story_of([file]).not_understood]
        for file in sorted((LOGS / release).iterdir())
    }
    assert {name: lines for name, lines in strange.items() if lines} == {}


def test_an_excerpt_is_short_and_names_no_path_of_a_machine() -> None:
    for file in LOGS.glob("*/*.log"):
        text = file.read_text()
        assert text.count("\n") <= LINES, file.name
        assert neutral(text) == text, file.name
        assert "/tmp" not in text, file.name
        assert "/dev/shm" not in text, file.name


def test_each_log_is_of_a_state() -> None:
    names = {file.name.split(".")[0] for file in LOGS.glob("*/*")}
    assert names == set(STATES)


@pytest.mark.parametrize("release", RELEASES)
def test_a_state_is_not_taken_for_another(release: str) -> None:
    """A cause that belongs to one state shows in no log of the others."""
    counts = Counter(cause for state in STATES.values() for cause in set(state.causes))
    own = {cause for cause, count in counts.items() if count == 1} - ORDINARY
    mistaken = {}
    for state in STATES.values():
        others = found(story_of(logs_of(state, release))) & own - set(state.causes)
        if others:
            mistaken[state.name] = others
    assert mistaken == {}
