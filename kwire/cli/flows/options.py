"""Options of what is shown and how: of `proxy`, `capture cat` and `replay` alike, and `decode`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kwire.cli.errors import WrongUsage, usage_errors
from kwire.cli.options import flag, option, repeated

if TYPE_CHECKING:
    from kwire.cli.flows.display import Selection
    from kwire.proxy.flows.language import Expression


API = repeated("--api", metavar="NAME", help="Show this API only; repeatable.")
NO_API = repeated("--no-api", metavar="NAME", help="Do not show this API; repeatable.")
VIEW = option(
    metavar="EXPRESSION",
    help="Show this only, and notices of its connections; see docs/reference/filter-language.md.",
)
MEANT = option("--view", metavar="EXPRESSION", help="These flows only, and all notices.")
VERBOSE = flag("--verbose", "-v", help="Show the whole messages, field by field.")
AS_JSON = flag("--json", help="Print a JSON value a line, the counts last.")
SHOW_SECRETS = flag("--show-secrets", help="Show and record passwords and tokens as they are.")


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiChoice:
    """The options that say which APIs are shown."""

    api: list[str] = API
    no_api: list[str] = NO_API

    def selection(self, view: str | None) -> Selection:
        """Return the selected flows. view: an expression. Raises WrongUsage."""
        from kwire.cli.flows.display import Selection

        shown, left_out = _apis(self.api), _apis(self.no_api)
        if both := sorted(shown & left_out):
            raise WrongUsage(f"--api and --no-api both name {', '.join(both)}: keep one of them.")
        return Selection(shown, left_out, expression(view))


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeRange:
    """The options of the range of times that is read of a recording, as people write them."""

    since: str | None = option(
        "--from",
        metavar="TIME",
        help="From 2026-11-21T09:30:00Z on, +30s after the first event, or -30s before the last.",
    )
    until: str | None = option("--to", metavar="TIME", help="Up to before this time, as --from.")


def expression(text: str | None) -> Expression | None:
    """Return the expression of an option. Raises WrongUsage, which points at the column."""
    if text is None:
        return None
    from kwire.proxy.flows.language import parse

    with usage_errors(end=""):
        return parse(text)


def _apis(names: list[str]) -> frozenset[str]:
    """Return API names as Kafka spells them, whatever their case. Raises WrongUsage."""
    from kwire.messages.index import APIS

    known = {name.lower(): name for name in APIS.values()}
    for name in names:
        if name.lower() not in known:
            raise WrongUsage(f"no API is called {name!r}; `kwire protocol show` names them.")
    return frozenset(known[name.lower()] for name in names)
