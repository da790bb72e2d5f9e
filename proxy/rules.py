"""The rules file: which messages are delayed, lost, refused or changed, how often and when.

seed: 7
rules:
  - match: ~api Fetch & ~from 3001
    delay: {from: 1s, to: 3s}
    probability: 0.5
  - preset: late-heartbeats
    node: 2
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, InstanceOf, model_validator

from kwire.error_codes import ErrorCode
from kwire.text_file import read_text
from proxy.interest import Direction
from proxy.language import Expression, parse
from proxy.patch import reachable
from proxy.presets import expand
from proxy.yaml_file import BadFile, Rate, Seconds, Strict, read_yaml, seconds


class BadRules(BadFile):
    """A rules file that cannot be used."""


def _expression(value: Any) -> Any:
    return parse(value) if isinstance(value, str) else value


def _code(value: Any) -> Any:
    if isinstance(value, str) and value.upper() in ErrorCode.__members__:
        return ErrorCode[value.upper()].value
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise ValueError(f"no error of Kafka's is called {value!r}")


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
            return cls._around(**value)
        return value

    @model_validator(mode="after")
    def _order(self) -> DelayOf:
        if self.most < self.least:
            raise ValueError("a delay's `from` is longer than its `to`")
        return self

    @classmethod
    def _around(cls, fixed: Any = None, jitter: Any = "0s", **others: Any) -> dict[str, Any]:
        middle, spread = seconds(fixed), seconds(jitter)
        return {
            "from": f"{max(middle - spread, 0):.6f}s",
            "to": f"{middle + spread:.6f}s",
            **others,
        }


class Rule(Strict):
    """What happens to the messages that match. after, until: since the rules were loaded.

    delay comes first; then at most one of drop, close, stall, error and patch. count: at most so
    many times; probability: of each message that matches.
    """

    name: str = ""
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
    count: int | None = Field(default=None, gt=0)
    after: Seconds = 0.0
    until: Seconds | None = None

    @property
    def way(self) -> Direction:
        """Which messages of an RPC are meant."""
        return Direction(self.direction)

    @model_validator(mode="after")
    def _makes_sense(self) -> Rule:
        ends = [self.drop, self.close, self.stall, self.error is not None, self.patch is not None]
        if sum(ends) > 1:
            raise ValueError("only one of drop, close, stall, error and patch can be")
        if not any(ends) and self.delay is None and self.bandwidth is None:
            raise ValueError("nothing is to happen: give delay, drop, close, stall, error or patch")
        if self.match.answers and self.way is Direction.REQUEST:
            raise ValueError("only a response can tell what match asks: add direction: response")
        if self.until is not None and self.until <= self.after:
            raise ValueError("`until` is not after `after`")
        for path in self.patch or ():
            if not reachable(path, self.match, self.way):
                raise ValueError(f"no {self.direction} that can match has a field {path!r}")
        return self


class Rules(Strict):
    """A whole file. on_error: what becomes of a message that a rule fails on."""

    seed: int = 0
    on_error: Literal["forward", "drop"] = "forward"
    rules: tuple[Rule, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _presets(cls, value: Any) -> Any:
        if not isinstance(value, dict) or not isinstance(value.get("rules"), list):
            return value
        expanded: list[Any] = []
        for one in value["rules"]:
            expanded += expand(one) if isinstance(one, dict) and "preset" in one else [one]
        return value | {"rules": expanded}


def read_rules(text: str) -> Rules:
    """The rules of a file's text; BadRules says where each thing is that is wrong."""
    return read_yaml(Rules, text, BadRules)


def load_rules(path: Path) -> Rules:
    """The rules of a file; BadRules names the file, and where each thing is that is wrong."""
    text = read_text(path, BadRules)
    try:
        return read_rules(text)
    except BadRules as error:
        raise BadRules(f"{path}: {error}".replace("\n", f"\n{path}: ")) from error
