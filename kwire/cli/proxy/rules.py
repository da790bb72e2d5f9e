"""`kwire proxy rules`: list, add, switch and remove the rules of a proxy while traffic flows."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kwire.cli.errors import WrongUsage
from kwire.text.untrusted import cut_repr

if TYPE_CHECKING:
    from kwire.cli.proxy.rule_commands import FeedTarget

app = typer.Typer(
    help="List, add, switch and remove the rules of a proxy while traffic flows.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

DEFAULT = "127.0.0.1:9900"
TIMEOUT = 5.0

FeedAt = Annotated[
    str | None,
    typer.Option(
        "--feed",
        metavar="HOST:PORT",
        help=f"What the proxy's --feed was given.  [default: {DEFAULT}]",
        show_default=False,
    ),
]
Token = Annotated[
    Path | None,
    typer.Option("--token", metavar="FILE", help="The token that its --feed-token was given."),
]
Config = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Find feed and token in this file, of a service."),
]
Cluster = Annotated[
    str | None, typer.Option(metavar="NAME", help="Which cluster of --config, where it has many.")
]
Timeout = Annotated[
    float, typer.Option(metavar="SECONDS", min=0.1, help="Wait for so long for an answer.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for scripts.")]
Names = Annotated[list[str], typer.Argument(metavar="NAME...", help="As `list` names them.")]


@app.command("list")
def list_(
    feed: FeedAt = None,
    token: Token = None,
    config: Config = None,
    cluster: Cluster = None,
    timeout: Timeout = TIMEOUT,
    as_json: AsJson = False,
) -> None:
    """Show the rules of a proxy in the order in which they act, with the hits of each.

    The proxy needs --feed: `kwire proxy --feed 127.0.0.1:9900 …`. A rule without a name gets one
    from its action, as delay-3f9a.

    \b
    kwire proxy rules list
    kwire proxy rules list --json | jq '.[] | select(.enabled) | .name'
    kwire proxy rules list --config kwire-proxy.yaml --cluster payments
    """
    from kwire.cli.proxy.rule_commands import list_rules, print_rules

    rules = list_rules(_target(feed, token, config, cluster, timeout))
    if as_json:
        from kwire.cli.screen import print_json

        print_json(rules)
    else:
        print_rules(rules)


@app.command()
def add(
    match: Annotated[
        str | None,
        typer.Option(metavar="EXPRESSION", help="Which messages; see docs/filter-language.md."),
    ] = None,
    name: Annotated[str | None, typer.Option(metavar="NAME", help="What it is called.")] = None,
    direction: Annotated[
        str | None, typer.Option(metavar="request|response", help="Which message of an RPC.")
    ] = None,
    delay: Annotated[
        str | None, typer.Option(metavar="TIME", help="2s, or '{from: 1s, to: 3s}'.")
    ] = None,
    bandwidth: Annotated[str | None, typer.Option(metavar="RATE", help="100KiB/s.")] = None,
    drop: Annotated[bool, typer.Option("--drop", help="Send it nowhere.")] = False,
    close: Annotated[bool, typer.Option("--close", help="Cut its connection.")] = False,
    stall: Annotated[bool, typer.Option("--stall", help="Keep it, and all behind it.")] = False,
    error: Annotated[
        str | None, typer.Option(metavar="CODE", help="Answer with an error of Kafka's, or number.")
    ] = None,
    patch: Annotated[
        list[str] | None,
        typer.Option(metavar="PATH=VALUE", help="Set a field, topics.name=x; repeatable."),
    ] = None,
    probability: Annotated[
        float | None, typer.Option(metavar="SHARE", help="Of the messages, above 0 up to 1.")
    ] = None,
    count: Annotated[int | None, typer.Option(metavar="N", help="At most so many times.")] = None,
    after: Annotated[str | None, typer.Option(metavar="TIME", help="Not before 10s.")] = None,
    until: Annotated[str | None, typer.Option(metavar="TIME", help="Not later than 1m.")] = None,
    preset: Annotated[
        str | None,
        typer.Option(metavar="PRESET", help="One of docs/rules.md, as slow-fetch, for --match."),
    ] = None,
    node: Annotated[int | None, typer.Option(metavar="ID", help="The preset's node.")] = None,
    since: Annotated[
        int | None, typer.Option("--from", metavar="ID", help="The preset's asking node.")
    ] = None,
    to: Annotated[int | None, typer.Option(metavar="ID", help="The preset's asked node.")] = None,
    disabled: Annotated[
        bool, typer.Option("--disabled", help="Switched off until `enable`.")
    ] = False,
    feed: FeedAt = None,
    token: Token = None,
    config: Config = None,
    cluster: Cluster = None,
    timeout: Timeout = TIMEOUT,
    as_json: AsJson = False,
) -> None:
    """Add a rule behind all others; its name is printed. The options are the keys of a rules file.

    It lasts until it is removed or the proxy ends. docs/rules.md says what a rule can do, and what
    counts where a rules file says something else.

    \b
    kwire proxy rules add --match "~api Fetch & ~from 3001" --delay 2s --name slow
    kwire proxy rules add --match "~api Vote" --error INVALID_REQUEST --count 3
    kwire proxy rules add --match "~api Metadata" --direction response --patch topics.name=x
    kwire proxy rules add --preset late-heartbeats --node 2
    """
    keys = {
        "name": name,
        "match": match,
        "preset": preset,
        "node": node,
        "from": since,
        "to": to,
        "direction": direction,
        "delay": _yaml(delay),
        "bandwidth": bandwidth,
        "drop": drop or None,
        "close": close or None,
        "stall": stall or None,
        "error": _yaml(error),
        "patch": dict(_pair(setting) for setting in patch) if patch else None,
        "probability": probability,
        "count": count,
        "after": after,
        "until": until,
        "enabled": False if disabled else None,
    }
    rule = {key: value for key, value in keys.items() if value is not None}
    from kwire.cli.proxy.rule_commands import check_rule, run_commands

    text = check_rule(rule)
    target = _target(feed, token, config, cluster, timeout)
    run_commands(
        target, [(name or preset or "", "added", lambda at: at.add_rule(text))], as_json=as_json
    )


@app.command()
def enable(
    names: Names,
    feed: FeedAt = None,
    token: Token = None,
    config: Config = None,
    cluster: Cluster = None,
    timeout: Timeout = TIMEOUT,
    as_json: AsJson = False,
) -> None:
    """Let rules act again; their counts go on.

    \b
    kwire proxy rules enable slow
    """
    target = _target(feed, token, config, cluster, timeout)
    _each(
        target,
        names,
        "enabled",
        lambda name: lambda at: at.switch_rule(name, enabled=True),
        as_json=as_json,
    )


@app.command()
def disable(
    names: Names,
    feed: FeedAt = None,
    token: Token = None,
    config: Config = None,
    cluster: Cluster = None,
    timeout: Timeout = TIMEOUT,
    as_json: AsJson = False,
) -> None:
    """Stop rules from acting; they keep their order and their counts.

    \b
    kwire proxy rules disable slow delay-3f9a
    """
    target = _target(feed, token, config, cluster, timeout)
    _each(
        target,
        names,
        "disabled",
        lambda name: lambda at: at.switch_rule(name, enabled=False),
        as_json=as_json,
    )


@app.command()
def remove(
    names: Names,
    feed: FeedAt = None,
    token: Token = None,
    config: Config = None,
    cluster: Cluster = None,
    timeout: Timeout = TIMEOUT,
    as_json: AsJson = False,
) -> None:
    """Remove rules. A rule of the rules file returns when its entry in the file changes.

    \b
    kwire proxy rules remove slow
    """
    target = _target(feed, token, config, cluster, timeout)
    _each(target, names, "removed", lambda name: lambda at: at.remove_rule(name), as_json=as_json)


def _each(
    target: FeedTarget,
    names: Sequence[str],
    done: str,
    act: Callable[[str], Callable[[Any], Awaitable[Any]]],
    *,
    as_json: bool,
) -> None:
    from kwire.cli.proxy.rule_commands import run_commands

    run_commands(target, [(name, done, act(name)) for name in names], as_json=as_json)


def _target(
    feed: str | None,
    token: Path | None,
    config: Path | None,
    cluster: str | None,
    timeout: float,
) -> FeedTarget:
    from kwire.cli.proxy.feeding import feed_address, feed_token

    try:
        from kwire.cli.proxy.rule_commands import FeedTarget, target_of_config
    except ImportError as error:
        from kwire.proxy.service.feed import explain_import_error

        raise explain_import_error(error) from error
    if config is not None:
        if feed is not None or token is not None:
            raise WrongUsage("--config names the feed: omit --feed and --token.")
        return target_of_config(config, cluster, timeout)
    if cluster is not None:
        raise WrongUsage("--cluster is one of a service's file: give --config as well.")
    return FeedTarget(feed_address(feed or DEFAULT), feed_token(token), timeout)


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
