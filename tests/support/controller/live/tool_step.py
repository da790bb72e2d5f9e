"""A step of the comparison by Kafka's tools.

In the words `{servers}` stands for the brokers, `{controllers}` for the controllers, `{sasl}` for
the brokers' listeners with SASL; other names are files, or what an earlier step kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

TOOLS = "org.apache.kafka.tools."
CONFIGS = "kafka.admin.ConfigCommand"
SERVERS = ("--bootstrap-server", "{servers}")
CONTROLLERS = ("--bootstrap-controller", "{controllers}")
SASL = ("--bootstrap-server", "{sasl}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolStep:
    """A command line of one of Kafka's tools.

    seconds: how long it may take. skip: a regular expression of lines that are each run's own.
    until: a regular expression; the step is repeated until it prints that. keep: names of values
    for later steps, and the regular expressions whose first group they are in the output. files:
    names of files to write before, and their texts.
    """

    name: str
    words: tuple[str, ...]
    text: str = ""
    seconds: int = 60
    skip: str = ""
    until: str = ""
    keep: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallStep:
    """A step in Python, which is given the brokers' addresses and returns what is compared."""

    name: str
    call: Callable[[str], list[str]]


def step(tool: str, words: str, *, skip: str = "", until: str = "") -> ToolStep:
    """Make a step of a tool and its words, asked at the brokers."""
    return step_at(SERVERS, tool, words, skip=skip, until=until)


def step_at(
    place: tuple[str, ...], tool: str, words: str, *, skip: str = "", until: str = ""
) -> ToolStep:
    """Make a step of a tool and its words, asked at a place."""
    main = tool if tool.startswith("kafka.") else TOOLS + tool
    name = f"{main.rpartition('.')[2]} {words}"
    if place == CONTROLLERS:
        name += " at the controllers"
    return ToolStep(name=name, words=(main, *place, *words.split()), skip=skip, until=until)
