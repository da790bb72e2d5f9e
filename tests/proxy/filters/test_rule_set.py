"""Rules change while traffic flows; what the others have counted stays."""

from collections.abc import Callable
from random import Random

import pytest

from fuzzing.steps import steps
from kwire.errors import InvalidValue
from kwire.messages.a52_vote import VoteRequest
from kwire.proxy import Filters
from kwire.proxy.filters.rule_set import RuleSet
from kwire.proxy.filters.rules import read_rules
from kwire.proxy.flows.language import TermExpression
from tests.support.proxy.dialogue import asked
from tests.support.proxy.filter_dialogue import HeldDialogue

VOTE = asked(VoteRequest(voter_id=3000), 2, 1, "raft-client-3001")
ONCE = "{name: once, match: ~api Vote, drop: true, count: 1}"
LATER = "{name: later, match: ~api Vote, drop: true, after: 10s}"
OTHER = "{name: other, match: ~api Fetch, delay: 1s}"


class Laboratory:
    """A set of rules, and a dialogue under them."""

    def __init__(self, *rules: str) -> None:
        self.said: list[str] = []
        self.replaced: list[str] = []
        self.dialogue = HeldDialogue(filters=Filters())
        self.rules = RuleSet(self.dialogue.clock, lambda seed: Random(seed).random, self.changed)
        self.load(*rules)

    def changed(self, sentence: str) -> None:
        self.said.append(sentence)
        self.dialogue.filters.replace(self.rules.filters)

    def load(self, *rules: str) -> None:
        self.replaced = self.rules.load(read_rules(f"rules: [{', '.join(rules)}]"))
        self.dialogue.filters.replace(self.rules.filters)

    def blink(self, *names: str) -> None:
        """Switch rules off and on."""
        for name in names:
            self.rules.switch(name, "me", enabled=False)
            self.rules.switch(name, "me", enabled=True)

    def passes(self) -> bool:
        """Send a Vote; True if it reaches the node."""
        before = len(self.dialogue.at_node)
        return len(self.dialogue.ask(VOTE)) > before

    @property
    def names(self) -> list[str]:
        """The rules in their order, those that are switched off in parentheses."""
        return [entry.name if entry.enabled else f"({entry.name})" for entry in self.rules.entries]

    @property
    def hits(self) -> dict[str, int]:
        return {entry.name: entry.filter.hits for entry in self.rules.entries}


def test_rules_are_added_switched_and_removed_and_say_so() -> None:
    lab = Laboratory()
    assert lab.rules.add("name: all, match: ~api Vote, drop: true".join("{}"), "me") == ["all"]
    assert not lab.passes()
    lab.rules.switch("all", "you", enabled=False)
    assert lab.passes()
    lab.rules.switch("all", "you", enabled=True)
    assert not lab.passes()
    assert lab.hits == {"all": 2}
    lab.rules.switch("all", "you", enabled=True)
    lab.rules.remove("all", "me")
    assert lab.passes()
    assert lab.said == [
        "rule 'all' was added by me",
        "rule 'all' was disabled by you",
        "rule 'all' was enabled by you",
        "rule 'all' was removed by me",
    ]
    assert list(lab.rules.changes)[-4:] == lab.said


CHANGES: dict[str, Callable[[Laboratory], object]] = {
    "another is added": lambda lab: lab.rules.add("{match: ~api Fetch, drop: true}", "me"),
    "another is removed": lambda lab: lab.rules.remove("other", "me"),
    "another is switched": lambda lab: lab.rules.switch("other", "me", enabled=False),
    "it is switched off and on": lambda lab: lab.blink("once", "later"),
    "the file is loaded": lambda lab: lab.load(ONCE, LATER, OTHER),
    "the file has another order": lambda lab: lab.load(OTHER, LATER, ONCE),
    "the file lost another": lambda lab: lab.load(ONCE, LATER),
    "the file has more": lambda lab: lab.load("{match: ~api Fetch, close: true}", ONCE, LATER),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=list(CHANGES))
def test_what_a_rule_has_counted_stays(change: Callable[[Laboratory], object]) -> None:
    lab = Laboratory(ONCE, LATER, OTHER)
    assert not lab.passes()
    lab.dialogue.now_is(9.0)
    change(lab)
    assert lab.passes()
    assert lab.hits["once"] == 1
    lab.dialogue.now_is(10.0)
    assert not lab.passes(), "ten seconds since it was first loaded"


def test_a_rule_s_dice_do_not_depend_on_the_others() -> None:
    half = "{name: half, match: ~api Vote, drop: true, probability: 0.5}"
    other = "{name: first, match: ~api Vote, delay: 0s, probability: 0.5}"
    alone, beside, changing = Laboratory(half), Laboratory(other, half), Laboratory(half)
    passed: list[list[bool]] = [[], [], []]
    for number in range(40):
        if number == 20:
            changing.rules.add(other, "me")
        for results, lab in zip(passed, (alone, beside, changing), strict=True):
            results.append(lab.passes())
    assert passed[0] == passed[1] == passed[2]
    assert set(passed[0]) == {True, False}


def test_what_was_commanded_stays_until_the_file_says_something_else() -> None:
    lab = Laboratory(ONCE, LATER, OTHER)
    lab.rules.remove("once", "me")
    lab.rules.switch("later", "me", enabled=False)
    lab.rules.add("{name: mine, match: ~api Vote, delay: 1s}", "me")
    lab.load(ONCE, LATER, OTHER)
    assert lab.names == ["(later)", "other", "mine"]
    lab.load(ONCE.replace("1}", "2}"), LATER.replace("10s", "11s"))
    assert lab.names == ["once", "later", "mine"]
    lab.load("{name: mine, match: ~api Vote, stall: true}", OTHER)
    assert lab.names == ["mine", "other"]
    (said,) = lab.replaced
    assert (
        said == lab.rules.changes[-1] == "rule 'mine' of the file takes the place of the added one"
    )
    lab.rules.remove("mine", "me")
    lab.rules.add("{name: mine, match: ~api Vote, delay: 1s}", "me")
    lab.load("{name: mine, match: ~api Vote, stall: true}", OTHER)
    assert lab.names == ["other", "mine"]


def test_a_file_may_have_a_rule_that_is_switched_off() -> None:
    lab = Laboratory(ONCE.replace("name", "enabled: false, name"))
    assert lab.names == ["(once)"]
    assert lab.passes()
    lab.rules.switch("once", "me", enabled=True)
    assert not lab.passes()


WRONG = {
    "a name that is taken": (lambda rules: rules.add(ONCE, "me"), "there is a rule 'once' already"),
    "an expression": (
        lambda rules: rules.add("{match: ~api Vo, drop: true}", "me"),
        "match: column 6: no API is called 'Vo'",
    ),
    "no mapping": (lambda rules: rules.add("drop", "me"), "a rule is keys with their values"),
    "a key twice": (
        lambda rules: rules.add("{match: ~api Fetch, delay: 1s, delay: 2s}", "me"),
        "line 1: 'delay' is there twice",
    ),
    "no YAML": (lambda rules: rules.add("{match: ", "me"), "this is no YAML: .*; quote what"),
    "a name that is none": (
        lambda rules: rules.remove("onec", "me"),
        "no rule is called 'onec'; did you mean 'once'?",
    ),
    "another": (
        lambda rules: rules.switch("x", "me", enabled=True),
        "no rule is called 'x'; `kwire proxy rules list` names them",
    ),
}


@pytest.mark.parametrize(("command", "said"), WRONG.values(), ids=list(WRONG))
def test_what_cannot_be_done_changes_nothing(
    command: Callable[[RuleSet], object], said: str
) -> None:
    lab = Laboratory(ONCE)
    revision = lab.rules.revision
    with pytest.raises(InvalidValue, match=said.replace("?", r"\?")) as raised:
        command(lab.rules)
    assert "\n" not in str(raised.value)
    assert (lab.names, lab.said, lab.rules.revision) == (["once"], [], revision)


def test_a_preset_adds_its_rules_or_none() -> None:
    lab = Laboratory()
    assert lab.rules.add("{preset: slow-fetch, node: 3001}", "me") == ["slow-fetch-3001"]
    with pytest.raises(InvalidValue, match="there is a rule 'slow-fetch-3001' already"):
        lab.rules.add("{preset: slow-fetch, node: 3001}", "me")
    assert lab.names == ["slow-fetch-3001"]


@pytest.mark.parametrize("match", ["~v 0+ ~v 99", "~api Envelope", "~api Envelope ~from 1"])
def test_the_messages_of_a_rule_are_worked_out_once(
    match: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    laboratory = Laboratory()
    filters = laboratory.dialogue.filters
    for number in range(20):
        laboratory.rules.add(f"{{match: {match}, drop: true, name: r{number}}}", "me")
    asked_for: list[object] = []
    monkeypatch.setattr(TermExpression, "static", lambda *kind: asked_for.append(kind))
    assert not filters.look_inside
    laboratory.rules.switch("r7", "me", enabled=False)
    assert steps(lambda: filters.look_inside) < 20 * 10
    assert not asked_for


def test_the_rules_added_by_command_have_a_longest_length_in_all() -> None:
    lab = Laboratory()
    patch = ", ".join(f"topics.{number}.topic: {'A' * 200}" for number in range(30))
    rules = [f"{{match: ~api Fetch, patch: {{{patch}}}, name: r{n:03}}}" for n in range(200)]
    fitting = (1 << 20) // len(rules[0])
    for rule in rules[:fitting]:
        lab.rules.add(rule, "me")
    with pytest.raises(InvalidValue, match="1048576 characters in all"):
        lab.rules.add(rules[fitting], "me")
    lab.rules.remove("r000", "me")
    lab.rules.add(rules[fitting], "me")
    assert len(lab.names) == fitting
