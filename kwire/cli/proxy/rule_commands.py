"""Lists and changes the rules of a proxy through its feed, and prints the outcome."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer
from rich.text import Text

from kwire.cli.errors import CommandFailed, WrongUsage, usage_errors
from kwire.cli.proxy.feeding import feed_token
from kwire.cli.proxy.rule_text import rule_text
from kwire.cli.screen import print_json, screen, table_of
from kwire.errors import AnswerLost, ConnectionFailed
from kwire.net.address import Address
from kwire.proxy.feed.receiver import Receiver
from kwire.proxy.feed.source import CommandRefused
from kwire.proxy.filters.rules import read_rule
from kwire.proxy.service.config import read_config

SendCommand = Callable[[Receiver], Awaitable[Any]]
RuleChange = tuple[str, str, SendCommand]
"""The name of a rule, the word for its state after success, and the call that commands it."""

SHOWN_AGAIN = "`kwire proxy rules list` shows what is in force"


@dataclass(frozen=True, slots=True)
class FeedTarget:
    """The feed of a proxy. timeout: seconds that the proxy has to answer."""

    feed: Address
    token: bytes
    timeout: float

    def receiver(self) -> Receiver:
        """Return a viewer of the feed that asks for no events of before."""
        return Receiver(
            self.feed, lambda _: None, token=self.token, backlog=0, timeout=self.timeout
        )


def target_of_config(path: Path, cluster: str | None, timeout: float) -> FeedTarget:
    """Return the feed of a cluster in a service's file. Raises WrongUsage."""
    with usage_errors(end=""):
        clusters = {config.name: config for config in read_config(path).clusters}
    names = ", ".join(repr(name) for name in clusters)
    if cluster is None and len(clusters) > 1:
        raise WrongUsage(f"{path} has the clusters {names}: give --cluster as well.")
    cluster_config = clusters.get(cluster) if cluster is not None else next(iter(clusters.values()))
    if cluster_config is None:
        raise WrongUsage(f"{path} has no cluster {cluster!r}: it has {names}.")
    if cluster_config.feed is None:
        raise WrongUsage(
            f"cluster {cluster_config.name!r} has no feed: give it"
            f" `feed: {{listen: 127.0.0.1:9900}}` in {path} and start the proxy again."
        )
    return FeedTarget(cluster_config.feed.listen, feed_token(cluster_config.feed.token), timeout)


def check_rule(rule: dict[str, Any]) -> str:
    """Return a rule as text. Raises WrongUsage if no proxy would take it."""
    text = json.dumps(rule, default=str)
    with usage_errors(end=""):
        read_rule(text)
    return text


def list_rules(target: FeedTarget) -> list[dict[str, Any]]:
    """Return the rules of a proxy. Raises ConnectionFailed if it does not answer."""

    async def ask() -> list[dict[str, Any]]:
        async with target.receiver() as receiver:
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
    """Print a table of rules."""
    if not rules:
        typer.echo("no rules; `kwire proxy rules add` adds one")
        return
    table = table_of("name", "", "from", "hits", "rule", right=("hits",))
    for rule in rules:
        state = Text("on", "green") if rule["enabled"] else Text("off", "yellow")
        text = Text(rule_text(rule["rule"]))
        table.add_row(Text(rule["name"]), state, rule["origin"], str(rule["hits"]), text)
    screen().print(table)


def run_commands(target: FeedTarget, commands: Sequence[RuleChange], *, as_json: bool) -> None:
    """Change rules one after the other, print each outcome; exit with 1 unless all is done."""
    outcomes = asyncio.run(_run(target, commands))
    if as_json:
        print_json(outcomes)
    for outcome in [] if as_json else outcomes:
        failed = outcome["outcome"] in ("refused", "unknown")
        typer.echo(outcome["problem"] or f"{outcome['name']} {outcome['outcome']}", err=failed)
    if any(outcome["problem"] for outcome in outcomes):
        raise typer.Exit(1)


async def _run(target: FeedTarget, commands: Sequence[RuleChange]) -> list[dict[str, str]]:
    outcomes = []
    async with target.receiver() as receiver:
        try:
            await receiver.reached()
        except ConnectionFailed as error:
            raise CommandFailed(f"nothing was changed: {error}") from error
        for name, participle, send in commands:
            outcomes += await _outcomes(receiver, name, participle, send)
    return outcomes


async def _outcomes(
    receiver: Receiver, name: str, participle: str, send: SendCommand
) -> list[dict[str, str]]:
    try:
        names = await send(receiver) or (name,)
    except CommandRefused as error:
        return [{"name": name, "outcome": "refused", "problem": str(error)}]
    except AnswerLost as error:
        problem = f"it is not known whether {name!r} was {participle}: {error}; {SHOWN_AGAIN}"
        return [{"name": name, "outcome": "unknown", "problem": problem}]
    return [{"name": rule_name, "outcome": participle, "problem": ""} for rule_name in names]
