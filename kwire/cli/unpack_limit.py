"""`--unpack-limit`: the bytes that a compressed batch may become, in commands that read records."""

from __future__ import annotations

import typer

from kwire.cli.options import option


def _allow(context: typer.Context, mebibytes: int) -> int:
    """Let each batch unpack to so much, whatever its size, until the command ends."""
    from kwire.batches.compression import LIMIT_IN_USE, Limit

    token = LIMIT_IN_USE.set(Limit.by_size(mebibytes, "--unpack-limit"))
    context.call_on_close(lambda: LIMIT_IN_USE.reset(token))
    return mebibytes


UNPACK_LIMIT = option(
    "--unpack-limit",
    default=64,
    metavar="MIB",
    min=1,
    max=2047,  # kwire.batches.compression.MOST_MEBIBYTES
    callback=_allow,
    help="Unpack a compressed batch to so many MiB at most. Raise it only if you trust the sender.",
)
