"""The rules in force: those of the rules file, and the changes commanded while traffic flows.

A command on a rule holds until the rule's entry in the file changes:

1. A rule whose entry is unchanged keeps its hits, its dice and its time; it stays switched off or
   removed if it was.
2. A rule whose entry is new or changed starts anew, as the file has it. It replaces a rule of the
   same name that was added by command.
3. A rule whose entry is gone is removed.
4. Rules that were added by command stay, behind those of the file.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum

from kwire.errors import InvalidValue
from kwire.proxy.filters.rule import Dice, RuleFilter
from kwire.proxy.filters.rules import Rule, RulesFile, read_rule
from kwire.text.untrusted import cut_repr, did_you_mean

MOST = 1000
"""Rules at a time that may be added by command."""

ROOM = 1024 * 1024
"""Characters of all rules that were added by command: each viewer may ask for a list of them."""

CHANGES = 8
"""Sentences about the latest changes that are kept for viewers."""


class RuleOrigin(StrEnum):
    """The origin of a rule."""

    FILE = "file"
    COMMAND = "command"


@dataclass(slots=True, eq=False)
class RuleEntry:
    """A rule in force, or switched off. filter: acts as the rule says, and counts its hits.

    size: characters of the command that added it.
    """

    rule: Rule
    filter: RuleFilter
    origin: RuleOrigin
    enabled: bool
    size: int = 0

    @property
    def name(self) -> str:
        """The name by which commands switch and remove the rule."""
        return self.rule.name


class RuleSet:
    """Rules by name, in the order in which they act.

    clock: seconds of the clock that filters are asked by. dice: makes the random source of a seed;
    each rule has its own, so that rules do not influence each other's draws. changed: called with a
    sentence after each command that changed something. revision: grows with each change.
    """

    def __init__(
        self,
        clock: Callable[[], float],
        dice: Callable[[str], Dice],
        changed: Callable[[str], None] = lambda sentence: None,
    ) -> None:
        self._clock = clock
        self._dice = dice
        self.changed = changed
        self._entries: dict[str, RuleEntry] = {}
        self._file: dict[str, Rule] = {}
        self._seed = 0
        self.revision = 0
        self.changes: deque[str] = deque(maxlen=CHANGES)

    @property
    def entries(self) -> tuple[RuleEntry, ...]:
        """All rules, also those that are switched off."""
        return tuple(self._entries.values())

    @property
    def filters(self) -> list[RuleFilter]:
        """The filters of the rules that act."""
        return [entry.filter for entry in self._entries.values() if entry.enabled]

    def load(self, rules: RulesFile) -> list[str]:
        """Apply the rules file as it is now, by the four rules of the module.

        Returns a sentence for each rule added by command that the file replaced.
        """
        # Another seed gives every rule other dice: all of them start anew.
        before = {} if rules.seed != self._seed else self._file
        self._seed = rules.seed
        entries: dict[str, RuleEntry] = {}
        replaced: list[str] = []
        for rule in rules.rules:
            entry = self._entries.get(rule.name)
            # 2.
            if rule.name not in before or not _is_same_rule(before[rule.name], rule):
                if entry is not None and entry.origin is RuleOrigin.COMMAND:
                    replaced.append(rule.name)
                entries[rule.name] = self._entry(rule, RuleOrigin.FILE)
            # 1. Without an entry it was removed by command, and stays so.
            elif entry is not None and entry.origin is RuleOrigin.FILE:
                entries[rule.name] = entry
        # 3. The other rules of the file are not taken over. 4.
        for entry in self._entries.values():
            if entry.origin is RuleOrigin.COMMAND and entry.name not in entries:
                entries[entry.name] = entry
        if list(entries.values()) != list(self._entries.values()):
            self._note("the rules file was loaded")
        self._entries = entries
        self._file = {rule.name: rule for rule in rules.rules}
        sentences = [
            f"rule {name!r} of the file takes the place of the added one" for name in replaced
        ]
        for sentence in sentences:
            self._note(sentence)
        return sentences

    def add(self, text: str, by: str) -> list[str]:
        """Add a rule of YAML text, behind all others; return its name, or those of a preset's.

        by: who commands it. Raises InvalidValue, and then nothing was changed.
        """
        rules = read_rule(text)
        for rule in rules:
            if rule.name in self._entries:
                raise InvalidValue(
                    f"there is a rule {rule.name!r} already: remove it, or choose another name"
                )
        if len(self._entries) + len(rules) > MOST:
            raise InvalidValue(f"there are {len(self._entries)} rules already: remove some of them")
        if sum(entry.size for entry in self._entries.values()) + len(text) * len(rules) > ROOM:
            raise InvalidValue(
                f"the rules added by command may have {ROOM} characters in all: remove some, or "
                "put them into a rules file"
            )
        for rule in rules:
            self._entries[rule.name] = self._entry(rule, RuleOrigin.COMMAND, len(text))
            self._commanded(f"rule {rule.name!r} was added by {by}")
        return [rule.name for rule in rules]

    def switch(self, name: str, by: str, *, enabled: bool) -> None:
        """Let a rule act or not; its hits, its dice and its time stay. Raises InvalidValue."""
        entry = self._named(name)
        if entry.enabled != enabled:
            entry.enabled = enabled
            self._commanded(f"rule {name!r} was {'enabled' if enabled else 'disabled'} by {by}")

    def remove(self, name: str, by: str) -> None:
        """Remove a rule. Raises InvalidValue."""
        del self._entries[self._named(name).name]
        self._commanded(f"rule {name!r} was removed by {by}")

    def _named(self, name: str) -> RuleEntry:
        entry = self._entries.get(name)
        if entry is None:
            raise InvalidValue(f"no rule is called {cut_repr(name)}{_hint(name, self._entries)}")
        return entry

    def _entry(self, rule: Rule, origin: RuleOrigin, size: int = 0) -> RuleEntry:
        dice = self._dice(f"{self._seed} {rule.name}")
        return RuleEntry(rule, RuleFilter(rule, dice, self._clock()), origin, rule.enabled, size)

    def _commanded(self, sentence: str) -> None:
        self._note(sentence)
        self.changed(sentence)

    def _note(self, sentence: str) -> None:
        self.revision += 1
        self.changes.append(sentence)


def _is_same_rule(rule: Rule, other: Rule) -> bool:
    return (rule.definition, rule.enabled) == (other.definition, other.enabled)


def _hint(name: str, names: Iterable[str]) -> str:
    return did_you_mean(name, names) or "; `kwire proxy rules list` names them"
