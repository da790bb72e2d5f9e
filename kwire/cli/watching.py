"""`--watch`: the same question again and again, on one connection."""

from __future__ import annotations

import os
import sys
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

from kwire.cli.errors import finite
from kwire.cli.options import option
from kwire.cli.output import Output

if TYPE_CHECKING:
    from kwire.admin import AdminClient
    from kwire.cli.cluster_options import ClusterOptions

WATCH = option(
    "--watch",
    metavar="SECONDS",
    min=0.2,
    callback=finite,
    help="Ask again after so long, until Ctrl-C.",
)
T = TypeVar("T")

_CLEAR = "\x1b[H\x1b[2J"


def ask_and_show(
    cluster: ClusterOptions,
    output: Output,
    operation: Callable[[AdminClient], Awaitable[T]],
    show: Callable[[T], None],
    every: float | None,
) -> None:
    """Ask and show once, or every so many seconds until Ctrl-C.

    A terminal is cleared in between; a pipe and a dumb terminal get one result after the other. A
    question that fails while others worked is printed on stderr and asked again.
    """
    if every is None:
        show(cluster.run(operation))
        return

    async def watch(admin: AdminClient) -> None:
        import asyncio

        from kwire.errors import KwireError

        shown = False
        while True:
            try:
                result = await operation(admin)
            except KwireError as error:
                if not shown:
                    raise
                output.warn(str(error))
            else:
                shown = True
                if sys.stdout.isatty() and os.environ.get("TERM") not in ("dumb", "unknown"):
                    sys.stdout.write(_CLEAR)
                show(result)
            await asyncio.sleep(every)

    cluster.run(watch)
