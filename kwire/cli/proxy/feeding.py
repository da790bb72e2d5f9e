"""The address and the token of a feed, for the commands that find a proxy by it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from kwire.cli.errors import usage_errors

if TYPE_CHECKING:
    from kwire.net.address import Address


def feed_address(text: str) -> Address:
    """Return the address of an option. Raises WrongUsage."""
    from kwire.net.address import Address

    with usage_errors():
        return Address.parse(text)


def feed_token(path: Path | None) -> bytes:
    """Return the token in a file, nothing without a file. Raises WrongUsage."""
    from kwire.proxy.service.feed import read_token

    with usage_errors():
        return read_token(path)
