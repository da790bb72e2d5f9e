"""The rules file, which delays, drops, answers or changes messages by expression.

seed: 7
rules:
  - match: ~api Fetch & ~from 3001
    delay: {from: 1s, to: 3s}
    probability: 0.5
  - preset: late-heartbeats
    node: 2
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BeforeValidator,
    Field,
    InstanceOf,
    ModelWrapValidatorHandler,
    PrivateAttr,
    field_validator,
    model_validator,
)

from kwire.error_codes import ErrorCode
from kwire.permissions import changeable_by_others
from kwire.proxy.filters.patch import unreachable
from kwire.proxy.filters.presets import expand
from kwire.proxy.flows.interest import Direction
from kwire.proxy.flows.language import Expression, parse
from kwire.text.untrusted import cut_repr, did_you_mean, read_text
from kwire.text.yaml_data import COMMAND_BOUNDS, BadYaml, read_yaml_data
from kwire.text.yaml_file import (
    BadFile,
    Rate,
    Seconds,
    Strict,
    checked,
    mistakes,
    read_yaml,
    seconds,
)


class BadRules(BadFile):
    """A rules file that cannot be used."""


def _expression(value: Any) -> Any:
    return parse(value) if isinstance(value, str) else value


def _code(value: Any) -> Any:
    if isinstance(value, str) and value.upper() in ErrorCode.__members__:
        return ErrorCode[value.upper()].value
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    hint = did_you_mean(value.upper(), ErrorCode.__members__) if isinstance(value, str) else ""
    raise ValueError(f"no error of Kafka's is called {cut_repr(value)}{hint}")


class DelayOf(Strict):
    """`{from: 1s, to: 3s}`, evenly spread, or `{fixed: 1s, jitter: 200ms}`, within the jitter."""

    least: Seconds = Field(alias="from")
    most: Seconds = Field(alias="to")

    @model_validator(mode="before")
    @classmethod
    def _forms(cls, value: Any) -> Any:
        if isinstance(value, str):
            return {"from": value, "to": value}
        if isinstance(value, dict) and "fixed" in value:
            return cls._around(value)
        return value

    @model_validator(mode="after")
    def _order(self) -> DelayOf:
        if self.most < self.least:
            raise ValueError("a delay's `from` is longer than its `to`")
        return self

    @classmethod
    def _around(cls, value: dict[str, Any]) -> dict[str, Any]:
        middle, spread = seconds(value["fixed"]), seconds(value.get("jitter", "0s"))
        others = {key: value[key] for key in value if key not in ("fixed", "jitter")}
        return {
            "from": f"{max(middle - spread, 0):.6f}s",
            "to": f"{middle + spread:.6f}s",
            **others,
        }


EFFECTS = ("drop", "close", "stall", "error", "patch", "delay", "bandwidth")
"""Keys of which a rule has one at least."""


class Rule(Strict):
    """A match, and what is done to messages that match. after, until: seconds since it was loaded.

    delay comes first; then at most one of drop, close, stall, error and patch. skip: messages that
    match and pass before it acts; count: at most so many times; nth: on this message alone that
    matches; probability: of each that matches. enabled: whether it acts to begin with.
    """

    name: str = Field(default="", max_length=100)
    enabled: bool = True
    match: Annotated[InstanceOf[Expression], BeforeValidator(_expression)]
    direction: Literal["request", "response"] = "request"
    delay: DelayOf | None = None
    bandwidth: Rate | None = None
    drop: bool = False
    close: bool = False
    stall: bool = False
    error: Annotated[int, BeforeValidator(_code), Field(ge=-1, le=32767)] | None = None
    patch: dict[str, str | int | float | bool | None] | None = None
    probability: float = Field(default=1.0, gt=0, le=1)
    skip: int = Field(default=0, ge=0)
    count: int | None = Field(default=None, gt=0)
    nth: int | None = Field(default=None, gt=0)
    after: Seconds = 0.0
    until: Seconds | None = None
    _definition: dict[str, Any] = PrivateAttr(default_factory=dict)

    @property
    def definition(self) -> dict[str, Any]:
        """The keys and values that it was made of, without its name and `enabled`."""
        return self._definition

    @property
    def first(self) -> int:
        """The number, from 1 on, of the first matching message that it acts on."""
        return self.nth or self.skip + 1

    @property
    def most(self) -> int | None:
        """The most times that it acts; None for any number."""
        return 1 if self.nth else self.count

    @property
    def way(self) -> Direction:
        """The messages of an RPC that the rule is about."""
        return Direction(self.direction)

    @field_validator("name")
    @classmethod
    def _fits_a_line(cls, name: str) -> str:
        if not name.isprintable():
            raise ValueError("a name is of printable characters")
        return name

    @model_validator(mode="wrap")
    @classmethod
    def _keep(cls, value: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        rule = handler(value)
        if isinstance(value, dict):
            left_out = ("name", "enabled")
            rule._definition = {key: value[key] for key in value if key not in left_out}
        return rule

    @model_validator(mode="after")
    def _makes_sense(self) -> Rule:
        ends = [self.drop, self.close, self.stall, self.error is not None, self.patch is not None]
        if sum(ends) > 1:
            raise ValueError("only one of drop, close, stall, error and patch can be")
        if not any(ends) and self.delay is None and self.bandwidth is None:
            raise ValueError(
                "the rule has no action: give delay, drop, close, stall, error or patch"
            )
        if self.nth is not None and (self.skip or self.count is not None):
            raise ValueError("nth is skip and count in one: give it alone, or the two of them")
        if self.match.needs_response and self.way is Direction.REQUEST:
            raise ValueError("only a response can tell what match asks: add direction: response")
        if self.until is not None and self.until <= self.after:
            raise ValueError("`until` is not after `after`")
        path = unreachable(self.patch or (), self.match, self.way)
        if path is not None:
            raise ValueError(f"no {self.direction} that can match has a field {cut_repr(path)}")
        return self


class RulesFile(Strict):
    """A whole file. on_error: the fate of a message that a rule fails on."""

    seed: int = 0
    on_error: Literal["forward", "drop"] = "forward"
    rules: tuple[Rule, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _presets(cls, value: Any) -> Any:
        if not isinstance(value, dict) or not isinstance(value.get("rules"), list):
            return value
        return value | {"rules": list(_expanded(value["rules"]))}

    @model_validator(mode="after")
    def _names_differ(self) -> Self:
        names = Counter(rule.name for rule in self.rules)
        if doubled := next((name for name, times in names.items() if times > 1), None):
            raise ValueError(f"two rules are called {doubled!r}: give one of them another name")
        return self


def _expanded(rules: list[Any]) -> Iterator[Any]:
    """Yield the rules with presets expanded, and with names for those that have none.

    A name is the preset's with its nodes, or `delay-3f9a`, a hash of the rule: it stays the same
    whatever is changed beside it.
    """
    taken: set[str] = set()
    # The next number of a name, so that many rules alike are not counted from 1 each.
    numbers: defaultdict[str, Iterator[int]] = defaultdict(lambda: count(1))
    for entry in rules:
        if not isinstance(entry, dict):
            yield entry
            continue
        for rule in expand(entry) if "preset" in entry else [entry]:
            named_rule = rule
            if not entry.get("name"):
                name = _own_name(rule)
                named_rule = rule | {"name": _free(name, numbers[name], taken)}
            taken.add(str(named_rule["name"]))
            yield named_rule


def _own_name(rule: dict[str, Any]) -> str:
    if rule.get("name"):
        return str(rule["name"])
    text = json.dumps(rule, sort_keys=True, default=str)
    effect = next((key for key in EFFECTS if key in rule), "rule")
    return f"{effect}-{sha256(text.encode()).hexdigest()[:4]}"


def _free(name: str, numbers: Iterator[int], taken: set[str]) -> str:
    numbered = (name if number == 1 else f"{name}-{number}" for number in numbers)
    return next(free for free in numbered if free not in taken)


def read_rules(text: str) -> RulesFile:
    """Return the rules of a file's text. Raises BadRules, with the place of each fault."""
    return read_yaml(RulesFile, text, BadRules)


def read_rule(text: str) -> tuple[Rule, ...]:
    """Return the rule of a YAML mapping, `{match: ~api Fetch, delay: 1s}`, or those of a preset.

    Raises BadRules, in one line.
    """
    try:
        value, _ = read_yaml_data(text, COMMAND_BOUNDS)
    except BadYaml as error:
        raise BadRules(f"{error}; quote what has a comma or a colon") from error
    if not isinstance(value, dict):
        raise BadRules("a rule is keys with their values, {match: ~api Fetch, delay: 1s}")
    try:
        return checked(RulesFile, {"rules": [value]}, BadRules).rules
    except BadRules as error:
        raise BadRules("; ".join(mistakes(str(error).replace("rules[1].", "")))) from error


def load_rules(path: Path) -> RulesFile:
    """Return the rules of a file. Raises BadRules, with the file and the place of each fault."""
    if reason := changeable_by_others(path):
        raise BadRules(f"the rules are not taken: {reason}")
    text = read_text(path, BadRules)
    try:
        return read_rules(text)
    except BadRules as error:
        raise BadRules(error.in_file(path)) from error
