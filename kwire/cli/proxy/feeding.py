"""The address and the token of a feed, for the commands that find a proxy by it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from kwire.cli.errors import WrongUsage

if TYPE_CHECKING:
    from kwire.net.address import Address


def feed_address(text: str) -> Address:
    """Return the address of an option. Raises WrongUsage."""
    from kwire.errors import InvalidValue
    from kwire.net.address import Address

    try:
        return Address.parse(text)
    except InvalidValue as error:
        raise WrongUsage(f"{error}.") from error


def feed_token(path: Path | None) -> bytes:
    """Return the token in a file, nothing without a file. Raises WrongUsage."""
    from kwire.errors import InvalidValue
    from kwire.proxy.service.feed import read_token

    try:
        return read_token(path)
    except InvalidValue as error:
        raise WrongUsage(f"{error}.") from error
