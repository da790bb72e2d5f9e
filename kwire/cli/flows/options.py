"""Options of what is shown and how: of `proxy`, `capture cat` and `replay` alike, and `decode`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from kwire.cli.errors import WrongUsage

if TYPE_CHECKING:
    from kwire.cli.flows.display import Display
    from kwire.proxy.flows.language import Expression


def _allow(context: typer.Context, mebibytes: int | None) -> int | None:
    """Let each batch unpack to so much, whatever its size, until the command ends."""
    if mebibytes is not None:
        from kwire.batches.compression import LIMIT_IN_USE, Limit

        size = mebibytes << 20
        token = LIMIT_IN_USE.set(Limit(size=size, free=size))
        context.call_on_close(lambda: LIMIT_IN_USE.reset(token))
    return mebibytes


UnpackLimit = Annotated[
    int | None,
    typer.Option(
        "--unpack-limit",
        metavar="MIB",
        min=1,
        max=2047,
        callback=_allow,
        help="Unpack a compressed batch to so many MiB at most. By default to a hundred times its"
        " size, but at least 1 and at most 64. Raise it only if you trust the sender.",
    ),
]
Only = Annotated[
    list[str] | None, typer.Option("--api", metavar="NAME", help="Show this API only; repeatable.")
]
Hidden = Annotated[
    list[str] | None,
    typer.Option("--no-api", metavar="NAME", help="Do not show this API; repeatable."),
]
View = Annotated[
    str | None,
    typer.Option(metavar="EXPRESSION", help="Show this only; see docs/filter-language.md."),
]
Meant = Annotated[
    str | None,
    typer.Option("--view", metavar="EXPRESSION", help="These flows only, and all notices."),
]
Verbose = Annotated[
    bool, typer.Option("--verbose", "-v", help="Show the whole messages, field by field.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print a JSON value a line, the counts last.")]
From = Annotated[
    str | None,
    typer.Option(
        "--from",
        metavar="TIME",
        help="From 2026-11-21T09:30:00Z on, +30s after the first event, or -30s before the last.",
    ),
]
To = Annotated[
    str | None, typer.Option("--to", metavar="TIME", help="Up to before this time, as --from.")
]

ShowSecrets = Annotated[
    bool, typer.Option("--show-secrets", help="Show and record passwords and tokens as they are.")
]


def display(
    only: list[str] | None,
    hidden: list[str] | None,
    view: str | None,
    *,
    verbose: bool,
    as_json: bool,
    secrets: bool = False,
) -> Display:
    """Return the display of the selected flows. Raises WrongUsage."""
    from kwire.cli.flows.display import Display, Selection

    shown_apis, left_out = apis(only), apis(hidden)
    if both := sorted(shown_apis & left_out):
        raise WrongUsage(f"--api and --no-api both name {', '.join(both)}: keep one of them.")
    selection = Selection(shown_apis, left_out, expression(view))
    return Display(selection, verbose=verbose, as_json=as_json, secrets=secrets)


def expression(text: str | None) -> Expression | None:
    """Return the expression of an option. Raises WrongUsage, which points at the column."""
    if text is None:
        return None
    from kwire.errors import InvalidValue
    from kwire.proxy.flows.language import parse

    try:
        return parse(text)
    except InvalidValue as error:
        raise WrongUsage(str(error)) from error


def apis(names: list[str] | None) -> frozenset[str]:
    """Return API names as Kafka spells them, whatever their case. Raises WrongUsage."""
    from kwire.messages.index import APIS

    known = {name.lower(): name for name in APIS.values()}
    for name in names or ():
        if name.lower() not in known:
            raise WrongUsage(f"no API is called {name!r}; `kwire protocol show` names them.")
    return frozenset(known[name.lower()] for name in names or ())
