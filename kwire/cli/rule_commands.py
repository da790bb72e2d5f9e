"""Asks a proxy for its rules and commands them, through its feed, and prints what came of it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer
from rich.text import Text

from kwire.cli.errors import CommandFailed, WrongUsage
from kwire.cli.feeding import feed_token
from kwire.cli.rule_text import rule_text
from kwire.cli.screen import print_json, screen, table_of
from kwire.errors import AnswerLost, ConnectionFailed, InvalidValue
from kwire.net.address import Address
from kwire.proxy.feed.receiver import CommandRefused, Receiver
from kwire.proxy.filters.rules import read_rule
from kwire.proxy.service.config import read_config

Act = Callable[[Receiver], Awaitable[Any]]
Commanded = tuple[str, str, Act]
"""The name of a rule, what it is when all went well, and how that is commanded."""

SHOWN_AGAIN = "`kwire proxy rules list` shows what is in force"


@dataclass(frozen=True, slots=True)
class Proxied:
    """A proxy's feed, and how long it has to answer, in seconds."""

    feed: Address
    token: bytes
    timeout: float

    def receiver(self) -> Receiver:
        """A viewer of it, which wants no events of before."""
        return Receiver(
            self.feed, lambda _: None, token=self.token, backlog=0, timeout=self.timeout
        )


def of_config(path: Path, cluster: str | None, timeout: float) -> Proxied:
    """The feed of a cluster of a service. Raises WrongUsage."""
    try:
        clusters = {one.name: one for one in read_config(path).clusters}
    except InvalidValue as error:
        raise WrongUsage(str(error)) from error
    names = ", ".join(repr(name) for name in clusters)
    if cluster is None and len(clusters) > 1:
        raise WrongUsage(f"{path} has the clusters {names}: give --cluster as well.")
    found = clusters.get(cluster) if cluster is not None else next(iter(clusters.values()))
    if found is None:
        raise WrongUsage(f"{path} has no cluster {cluster!r}: it has {names}.")
    if found.feed is None:
        raise WrongUsage(
            f"cluster {found.name!r} has no feed: give it `feed: {{listen: 127.0.0.1:9900}}` in"
            f" {path} and start the proxy again."
        )
    return Proxied(found.feed.listen, feed_token(found.feed.token), timeout)


def checked(rule: dict[str, Any]) -> str:
    """The rule as text. Raises WrongUsage where no proxy would take it."""
    text = json.dumps(rule, default=str)
    try:
        read_rule(text)
    except InvalidValue as error:
        raise WrongUsage(str(error)) from error
    return text


def listed(where: Proxied) -> list[dict[str, Any]]:
    """The rules of a proxy. Raises CommandFailed where it does not answer."""

    async def ask() -> list[dict[str, Any]]:
        async with where.receiver() as receiver:
            await receiver.reached()
            return [
                {
                    "name": rule.name,
                    "enabled": rule.enabled,
                    "origin": rule.origin,
                    "hits": rule.hits,
                    "rule": rule.rule,
                }
                for rule in await receiver.rules()
            ]

    return asyncio.run(ask())


def print_rules(rules: Sequence[dict[str, Any]]) -> None:
    """Print a table."""
    if not rules:
        typer.echo("no rules; `kwire proxy rules add` adds one")
        return
    table = table_of("name", "", "from", "hits", "rule", right=("hits",))
    for one in rules:
        state = Text("on", "green") if one["enabled"] else Text("off", "yellow")
        says = Text(rule_text(one["rule"]))
        table.add_row(Text(one["name"]), state, one["origin"], str(one["hits"]), says)
    screen().print(table)


def command(where: Proxied, commands: Sequence[Commanded], *, as_json: bool) -> None:
    """Command one after the other, print what came of each; exit with 1 where one is not done."""
    outcomes = asyncio.run(_command(where, commands))
    if as_json:
        print_json(outcomes)
    for outcome in [] if as_json else outcomes:
        failed = outcome["outcome"] in ("refused", "unknown")
        typer.echo(outcome["problem"] or f"{outcome['name']} {outcome['outcome']}", err=failed)
    if any(outcome["problem"] for outcome in outcomes):
        raise typer.Exit(1)


async def _command(where: Proxied, commands: Sequence[Commanded]) -> list[dict[str, str]]:
    outcomes = []
    async with where.receiver() as receiver:
        try:
            await receiver.reached()
        except ConnectionFailed as error:
            raise CommandFailed(f"nothing was changed: {error}") from error
        for name, done, act in commands:
            outcomes += await _outcomes(receiver, name, done, act)
    return outcomes


async def _outcomes(receiver: Receiver, name: str, done: str, act: Act) -> list[dict[str, str]]:
    try:
        names = await act(receiver) or (name,)
    except CommandRefused as error:
        return [{"name": name, "outcome": "refused", "problem": str(error)}]
    except AnswerLost as error:
        problem = f"it is not known whether {name!r} was {done}: {error}; {SHOWN_AGAIN}"
        return [{"name": name, "outcome": "unknown", "problem": problem}]
    return [{"name": one, "outcome": done, "problem": ""} for one in names]
