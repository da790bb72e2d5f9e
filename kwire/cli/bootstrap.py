"""The options of every command that asks a cluster: bootstrap addresses and timeout."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from kwire.cli.errors import WrongUsage

if TYPE_CHECKING:
    from kwire.admin import AdminClient

T = TypeVar("T")

Server = Annotated[
    str | None,
    typer.Option(
        "--bootstrap-server", metavar="HOST:PORT,...", help="Ask these brokers; they forward."
    ),
]
Controller = Annotated[
    str | None,
    typer.Option(
        "--bootstrap-controller",
        metavar="HOST:PORT,...",
        help="Ask these controllers directly (KIP-919). Give exactly one of the two.",
    ),
]
Timeout = Annotated[
    float,
    typer.Option(metavar="SECONDS", min=0.1, help="Give up after so long, all tries counted."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for scripts.")]
TIMEOUT = 10.0


def admin_client(server: str | None, controller: str | None, timeout: float) -> AdminClient:
    """Return a client of the cluster in the options. Raises WrongUsage for none, or two."""
    if bool(server) == bool(controller):
        raise WrongUsage("give exactly one of --bootstrap-server and --bootstrap-controller.")
    from kwire.admin import AdminClient
    from kwire.codec import engine_cache
    from kwire.errors import InvalidValue

    # The next command loads the engines' code from there instead of compiling it.
    engine_cache.use_folder(engine_cache.user_folder())
    try:
        return AdminClient(server, controller, timeout=timeout)
    except InvalidValue as error:
        raise WrongUsage(f"{error}.") from error


def ask(client: AdminClient, operation: Callable[[AdminClient], Awaitable[T]]) -> T:
    """Run an operation in an event loop of its own, close the client, and return the result."""
    import asyncio

    async def run() -> T:
        async with client:
            return await operation(client)

    return asyncio.run(run())
