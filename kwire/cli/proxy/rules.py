"""`kwire proxy rules`: list, add, switch and remove the rules of a proxy while traffic flows."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kwire.cli.errors import WrongUsage
from kwire.cli.lazy import command_group
from kwire.cli.options import argument, flag, option, reads_options, repeated
from kwire.text.untrusted import cut_repr

if TYPE_CHECKING:
    from kwire.cli.proxy.rule_commands import FeedTarget

app = command_group("List, add, switch and remove the rules of a proxy while traffic flows.")

DEFAULT = "127.0.0.1:9900"

AS_JSON = flag("--json", help="Print JSON for scripts.")
NAMES = argument(metavar="NAME...", help="As `list` names them.")


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedChoice:
    """The options that say which proxy is asked, by its feed."""

    feed: str | None = option(
        "--feed",
        metavar="HOST:PORT",
        help=f"What the proxy's --feed was given.  [default: {DEFAULT}]",
        show_default=False,
    )
    token: Path | None = option(
        "--token", metavar="FILE", help="The token that its --feed-token was given."
    )
    config: Path | None = option(
        metavar="FILE", help="Find feed and token in this file, of a service."
    )
    cluster: str | None = option(
        metavar="NAME", help="Which cluster of --config, where it has many."
    )
    timeout: float = option(
        default=5.0, metavar="SECONDS", min=0.1, help="Wait for so long for an answer."
    )

    def target(self) -> FeedTarget:
        """Return the feed. Raises WrongUsage."""
        from kwire.cli.proxy.feeding import feed_address, feed_token
        from kwire.proxy.service.feed import importing_watch

        with importing_watch():
            from kwire.cli.proxy.rule_commands import FeedTarget, target_of_config
        if self.config is not None:
            if self.feed is not None or self.token is not None:
                raise WrongUsage("--config names the feed: omit --feed and --token.")
            return target_of_config(self.config, self.cluster, self.timeout)
        if self.cluster is not None:
            raise WrongUsage("--cluster is one of a service's file: give --config as well.")
        address = feed_address(self.feed or DEFAULT)
        return FeedTarget(address, feed_token(self.token), self.timeout)


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleOptions:
    """The options of a rule, which are the keys of a rules file."""

    match: str | None = option(
        metavar="EXPRESSION", help="Which messages; see docs/reference/filter-language.md."
    )
    name: str | None = option(metavar="NAME", help="What it is called.")
    direction: str | None = option(metavar="request|response", help="Which message of an RPC.")
    delay: str | None = option(metavar="TIME", help="2s, or '{from: 1s, to: 3s}'.")
    bandwidth: str | None = option(metavar="RATE", help="100KiB/s.")
    drop: bool = flag("--drop", help="Send it nowhere.")
    close: bool = flag("--close", help="Cut its connection.")
    stall: bool = flag("--stall", help="Keep it, and all behind it.")
    error: str | None = option(metavar="CODE", help="Answer with an error of Kafka's, or number.")
    patch: list[str] = repeated(
        metavar="PATH=VALUE", help="Set a field, topics.name=x; repeatable."
    )
    probability: float | None = option(metavar="SHARE", help="Of the messages, above 0 up to 1.")
    skip: int | None = option(metavar="N", help="Not on the first so many that match.")
    count: int | None = option(metavar="N", help="At most so many times.")
    nth: int | None = option(metavar="N", help="On the N-th that matches alone.")
    after: str | None = option(metavar="TIME", help="Not before 10s.")
    until: str | None = option(metavar="TIME", help="Not later than 1m.")
    preset: str | None = option(
        metavar="PRESET", help="One of docs/debuggers/rules.md, as slow-fetch, for --match."
    )
    node: int | None = option(metavar="ID", help="The preset's node.")
    since: int | None = option("--from", metavar="ID", help="The preset's asking node.")
    to: int | None = option(metavar="ID", help="The preset's asked node.")
    disabled: bool = flag("--disabled", help="Switched off until `enable`.")

    def rule(self) -> dict[str, Any]:
        """Return the keys that are given. Raises WrongUsage."""
        keys = {
            "name": self.name,
            "match": self.match,
            "preset": self.preset,
            "node": self.node,
            "from": self.since,
            "to": self.to,
            "direction": self.direction,
            "delay": _yaml(self.delay),
            "bandwidth": self.bandwidth,
            "drop": self.drop or None,
            "close": self.close or None,
            "stall": self.stall or None,
            "error": _yaml(self.error),
            "patch": dict(_pair(setting) for setting in self.patch) if self.patch else None,
            "probability": self.probability,
            "skip": self.skip,
            "count": self.count,
            "nth": self.nth,
            "after": self.after,
            "until": self.until,
            "enabled": False if self.disabled else None,
        }
        return {key: value for key, value in keys.items() if value is not None}


@app.command("list")
@reads_options
def list_(*, feed: FeedChoice, as_json: bool = AS_JSON) -> None:
    """Show the rules of a proxy in the order in which they act, with the hits of each.

    The proxy needs --feed: `kwire proxy --feed 127.0.0.1:9900 …`. A rule without a name gets one
    from its action, as delay-3f9a.

    \b
    kwire proxy rules list
    kwire proxy rules list --json | jq '.[] | select(.enabled) | .name'
    kwire proxy rules list --config kwire-proxy.yaml --cluster payments
    """
    target = feed.target()
    from kwire.cli.proxy.rule_commands import list_rules, print_rules

    rules = list_rules(target)
    if as_json:
        from kwire.cli.screen import print_json

        print_json(rules)
    else:
        print_rules(rules)


@app.command()
@reads_options
def add(*, options: RuleOptions, feed: FeedChoice, as_json: bool = AS_JSON) -> None:
    """Add a rule behind all others; its name is printed. The options are the keys of a rules file.

    It lasts until it is removed or the proxy ends. docs/debuggers/rules.md says what a rule can do,
    and what counts where a rules file says something else.

    \b
    kwire proxy rules add --match "~api Fetch & ~from 3001" --delay 2s --name slow
    kwire proxy rules add --match "~api Vote" --error INVALID_REQUEST --count 3
    kwire proxy rules add --match "~api EndTxn" --error INVALID_TXN_STATE --nth 2
    kwire proxy rules add --match "~api Metadata" --direction response --patch topics.name=x
    kwire proxy rules add --preset late-heartbeats --node 2
    """
    target = feed.target()
    from kwire.cli.proxy.rule_commands import check_rule, run_commands

    text = check_rule(options.rule())
    run_commands(
        target,
        [(options.name or options.preset or "", "added", lambda at: at.add_rule(text))],
        as_json=as_json,
    )


@app.command()
@reads_options
def enable(*, names: list[str] = NAMES, feed: FeedChoice, as_json: bool = AS_JSON) -> None:
    """Let rules act again; their counts go on.

    \b
    kwire proxy rules enable slow
    """
    _each(
        feed,
        names,
        "enabled",
        lambda name: lambda at: at.switch_rule(name, enabled=True),
        as_json=as_json,
    )


@app.command()
@reads_options
def disable(*, names: list[str] = NAMES, feed: FeedChoice, as_json: bool = AS_JSON) -> None:
    """Stop rules from acting; they keep their order and their counts.

    \b
    kwire proxy rules disable slow delay-3f9a
    """
    _each(
        feed,
        names,
        "disabled",
        lambda name: lambda at: at.switch_rule(name, enabled=False),
        as_json=as_json,
    )


@app.command()
@reads_options
def remove(*, names: list[str] = NAMES, feed: FeedChoice, as_json: bool = AS_JSON) -> None:
    """Remove rules. A rule of the rules file returns when its entry in the file changes.

    \b
    kwire proxy rules remove slow
    """
    _each(feed, names, "removed", lambda name: lambda at: at.remove_rule(name), as_json=as_json)


def _each(
    feed: FeedChoice,
    names: Sequence[str],
    done: str,
    act: Callable[[str], Callable[[Any], Awaitable[Any]]],
    *,
    as_json: bool,
) -> None:
    target = feed.target()
    from kwire.cli.proxy.rule_commands import run_commands

    run_commands(target, [(name, done, act(name)) for name in names], as_json=as_json)


def _pair(text: str) -> tuple[str, object]:
    path, equals, value = text.partition("=")
    if not path or not equals:
        raise WrongUsage(f"--patch {cut_repr(text)} sets nothing: write PATH=VALUE, topics.name=x.")
    return path.strip(), _yaml(value)


def _yaml(text: str | None) -> object:
    """Return a value as in a rules file; text that is no YAML stays, for the check to refuse."""
    from kwire.text.yaml_data import COMMAND_BOUNDS, BadYaml, read_yaml_data

    try:
        return None if text is None else read_yaml_data(text, COMMAND_BOUNDS)[0]
    except BadYaml:
        return text
