"""`kwire demo`: a quorum, administered through kwire's proxy, every RPC decoded live."""

from __future__ import annotations

from typing import Annotated

import typer

Seconds = Annotated[
    float, typer.Option(min=0, help="Watch the nodes for so long after the last step.")
]
Keep = Annotated[
    bool, typer.Option("--keep", help="Let it run until Ctrl-C, to try commands against it.")
]
Every = Annotated[
    bool, typer.Option("--all", help="Show every RPC, also those that repeat all the time.")
]
Verbose = Annotated[
    bool, typer.Option("--verbose", "-v", help="Show the admin's messages field by field.")
]


def demo(
    seconds: Seconds = 5.0, keep: Keep = False, every: Every = False, verbose: Verbose = False
) -> None:
    """Watch four controllers change voters through a proxy.

    The controllers are kwire's own and need nothing else. They advertise the proxy, so that all
    their traffic passes it. Nothing is left behind, whether it ends by itself or by Ctrl-C.

    \b
    kwire demo
    kwire demo --keep
    """
    from kwire.cli.demo.cluster import KwireQuorum
    from kwire.cli.demo.session import DemoOptions, run

    options = DemoOptions(seconds=seconds, keep=keep, every=every, verbose=verbose)
    run(options, lambda progress: KwireQuorum())
