"""The table of causes: ids, and remedies that are commands which exist."""

from __future__ import annotations

import re
import shlex
from collections import Counter

from kwire.doctor.finding import COMMAND
from kwire.error_codes import ErrorCode
from kwire.quorum_story.cause import CauseRole
from kwire.quorum_story.causes import CAUSES
from kwire.quorum_story.story import StoryEvent, StoryKind
from kwire.quorum_story.wording import fixes, meaning
from tests.support.code_of_pages import command_problem

DERIVED = {"stop.unclean", "clock.jump", "join.by-itself", "voters.recovered"}
"""Causes of several entries, which no word of one shows."""

CLUSTER = ["--bootstrap-controller", "localhost:9093"]
NEEDS_NO_CLUSTER = ("log", "storage", "controller")


def event_of(number: int, **details: str) -> StoryEvent:
    cause = CAUSES[number]
    names = re.findall(r"\(\?P<(\w+)>", cause.detail)
    return StoryEvent(
        kind=StoryKind.CAUSE,
        source="c1.log",
        place="c1.log:1",
        sentence="",
        node_id=3000,
        cause=cause,
        details=dict.fromkeys(names, "3001") | details,
    )


def test_an_id_is_given_once_and_has_a_subject() -> None:
    ids = Counter(cause.id for cause in CAUSES)
    assert [id for id, count in ids.items() if count > 1] == []
    assert [id for id in ids if not re.fullmatch(r"[a-z]+\.[a-z-]+", id)] == []


def test_a_cause_has_words_that_show_it_and_a_remedy() -> None:
    assert {cause.id for cause in CAUSES if not cause.words} == DERIVED
    assert [cause.id for cause in CAUSES if not cause.fixes] == []


def test_codes_are_kafkas() -> None:
    known = {code.name for code in ErrorCode}
    assert [code for cause in CAUSES for code in cause.codes if code not in known] == []


def test_a_remedy_is_a_command_that_parses() -> None:
    problems = {}
    for number in range(len(CAUSES)):
        for each in fixes(event_of(number)):
            for command in each.commands:
                words = shlex.split(command.removeprefix(COMMAND))
                needs = words[0] not in NEEDS_NO_CLUSTER
                problem = command_problem([*words, *(CLUSTER if needs else [])], is_whole=True)
                if problem:
                    problems[command] = problem
    assert problems == {}


def test_every_sentence_is_filled_in() -> None:
    for number, cause in enumerate(CAUSES):
        event = event_of(number, seconds="5", voter="3001", voters="3001")
        steps = [step for each in fixes(event) for step in each.steps]
        unfilled = [text for text in (meaning(event), *steps) if re.search(r"\bID\b|[{}]", text)]
        assert unfilled == [], cause.id


def test_what_a_log_says_cannot_command_a_terminal() -> None:
    numbers = {cause.id: number for number, cause in enumerate(CAUSES)}
    event = event_of(numbers["network.dns"], host="\x1b[2Jevil{node}")
    assert meaning(event) == r"Controller 3000 cannot resolve \x1b[2Jevil{node}."


def test_each_role_is_taken() -> None:
    assert {cause.role for cause in CAUSES} == set(CauseRole)
