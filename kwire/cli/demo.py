"""`kwire demo`: a quorum, administered through kwire's proxy, every RPC decoded live."""

from __future__ import annotations

from typing import Annotated

import typer


def demo(
    seconds: Annotated[
        float,
        typer.Option(min=0, help="Watch the nodes for so long after the last step."),
    ] = 5.0,
    keep: Annotated[
        bool, typer.Option("--keep", help="Let it run until Ctrl-C, to try commands against it.")
    ] = False,
    every: Annotated[
        bool, typer.Option("--all", help="Show every RPC, also those that repeat all the time.")
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Show the admin's messages field by field.")
    ] = False,
    kafka: Annotated[
        bool, typer.Option("--kafka", help="Use real Kafka 4.3.1 in local JVMs, with a broker.")
    ] = False,
) -> None:
    """Start four controllers and a proxy in front of them, and change the voters.

    The controllers are kwire's own and need nothing else. With --kafka they are real Kafka, as is a
    broker; Java and Kafka are downloaded where they are missing. The controllers advertise the
    proxy, so that all their traffic passes it. Nothing is left behind, whether it ends by itself or
    by Ctrl-C.

    \b
    kwire demo
    kwire demo --keep
    kwire demo --kafka
    """
    from kwire.cli.demo_session import Options, run

    run(Options(seconds=seconds, keep=keep, every=every, verbose=verbose, kafka=kafka))
