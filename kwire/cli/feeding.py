"""Where `kwire proxy` feeds viewers and `kwire watch` finds the feed: address, token, packages."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kwire.cli.errors import CommandFailed, WrongUsage

if TYPE_CHECKING:
    from kwire.net.address import Address
    from kwire.proxy import Filters
    from kwire.proxy.feed.sender import Feed
    from kwire.proxy.filters.intercept import Stop
    from kwire.proxy.filters.rule_set import RuleSet

FeedAt = Annotated[
    str | None,
    typer.Option(
        metavar="HOST:PORT",
        help="Let `kwire watch HOST:PORT` see what passes, and hold messages; see docs/watch.md.",
    ),
]
FeedToken = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Viewers need the token in this file; a must beyond loopback.",
    ),
]

_PACKAGES = frozenset({"asyncio_dgram", "textual", "textual_serve"})


@dataclass(frozen=True, slots=True)
class Feeding:
    """Where to feed viewers, and what they have to know."""

    listen: Address
    token: bytes

    def feed(self, stop: Stop, filters: Filters, rules: RuleSet, hold: str | None) -> Feed:
        """A feed whose viewers control stop and rules. hold: held now. Raises CommandFailed."""
        try:
            from kwire.proxy.feed.commands import Controls
            from kwire.proxy.feed.sender import Feed
        except ImportError as error:
            raise missing(error) from error
        return Feed(self.listen, token=self.token, controls=Controls(stop, filters, rules, hold))


def feeding(at: str | None, token: Path | None) -> Feeding | None:
    """What the options say. Raises WrongUsage."""
    if at is None:
        if token is not None:
            raise WrongUsage("--feed-token is for viewers: give --feed as well.")
        return None
    from kwire.net.address import is_loopback

    found = Feeding(address(at), read_token(token))
    if not found.token and not is_loopback(found.listen.host):
        raise WrongUsage(f"{at} is reached from other machines: give --feed-token as well.")
    return found


def address(text: str) -> Address:
    """Where a feed is. Raises WrongUsage."""
    from kwire.errors import InvalidValue
    from kwire.net.address import Address

    try:
        return Address.parse(text)
    except InvalidValue as error:
        raise WrongUsage(f"{error}.") from error


def read_token(path: Path | None) -> bytes:
    """What the file holds, without white space around it. Raises WrongUsage."""
    if path is None:
        return b""
    try:
        token = path.read_bytes().strip()
    except OSError as error:
        raise WrongUsage(f"cannot read {path}: {error.strerror}.") from error
    if not token:
        raise WrongUsage(
            f"{path} is empty: write a token into it, `openssl rand -hex 16` makes one."
        )
    return token


def missing(error: ImportError) -> Exception:
    """What to say where a package of the extra is not there; another error stays what it is."""
    if (error.name or "").partition(".")[0] not in _PACKAGES:
        return error
    return CommandFailed("watching needs more packages: pip install 'kwire[watch]'")
