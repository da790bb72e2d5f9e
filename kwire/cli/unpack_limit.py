"""`--unpack-limit`: the bytes that a compressed batch may become, in commands that read records."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from kwire.cli.options import option

if TYPE_CHECKING:
    from kwire.batches.compression import Limit

MEBIBYTES = 64
"""The limit by default."""


def use_limit(context: typer.Context, limit: Limit) -> None:
    """Let each batch unpack up to this limit until the command ends."""
    from kwire.batches.compression import LIMIT_IN_USE

    token = LIMIT_IN_USE.set(limit)
    context.call_on_close(lambda: LIMIT_IN_USE.reset(token))


def _allow(context: typer.Context, mebibytes: int) -> int:
    """Let each batch unpack to so much, whatever its size, until the command ends."""
    from kwire.batches.compression import Limit

    use_limit(context, Limit.by_size(mebibytes, "--unpack-limit"))
    return mebibytes


UNPACK_LIMIT = option(
    "--unpack-limit",
    default=MEBIBYTES,
    metavar="MIB",
    min=1,
    max=2047,  # kwire.batches.compression.MOST_MEBIBYTES
    callback=_allow,
    help="Unpack a compressed batch to so many MiB at most. Raise it only if you trust the sender.",
)
