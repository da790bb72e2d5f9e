"""The feed of a cluster for `kwire watch`: its token, and the packages that it needs."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

from kwire.errors import InvalidValue
from kwire.extras import importing_any
from kwire.permissions import changeable_by_others, warn_if_readable
from kwire.proxy.feed.datagrams import check_token

if TYPE_CHECKING:
    from kwire.net.address import Address
    from kwire.proxy.feed.sender import Feed
    from kwire.proxy.filters.chain import Filters
    from kwire.proxy.filters.intercept import Intercept
    from kwire.proxy.filters.rule_set import RuleSet

_PACKAGES = frozenset({"aiohttp", "asyncio_dgram", "textual", "textual_serve"})


def importing_watch() -> AbstractContextManager[None]:
    """Raise MissingExtra if a package of the extra `watch` cannot be imported inside."""
    return importing_any(_PACKAGES, "watch", "watching needs more packages")


def read_token(path: Path | None) -> bytes:
    """Return what a file holds, without white space around it; nothing without a file.

    Raises InvalidValue if the file cannot be read, is empty, holds too short a token, or if another
    user could change it: viewers with the token hold messages and set rules.
    """
    if path is None:
        return b""
    if reason := changeable_by_others(path):
        raise InvalidValue(f"the token is not taken: {reason}")
    warn_if_readable(path)
    try:
        token = path.read_bytes().strip()
    except OSError as error:
        raise InvalidValue(f"cannot read {path}: {error.strerror}") from error
    if not token:
        raise InvalidValue(
            f"{path} is empty: write a token into it, `openssl rand -hex 16` makes one"
        )
    try:
        check_token(token)
    except InvalidValue as error:
        raise InvalidValue(f"{path} holds {error}") from error
    return token


def make_feed(
    listen: Address,
    token: Path | None,
    intercept: Intercept,
    filters: Filters,
    rules: RuleSet,
    hold: str | None,
) -> Feed:
    """Return a feed whose viewers control held messages and rules. hold: what is held now.

    Raises MissingExtra, and InvalidValue for a token file that cannot be used.
    """
    with importing_watch():
        # asyncio_dgram is in the extra `watch`: a proxy without a feed runs without it.
        from kwire.proxy.feed.commands import Controls
        from kwire.proxy.feed.sender import Feed
    controls = Controls(intercept, filters, rules, hold)
    return Feed(listen, token=read_token(token), controls=controls)
