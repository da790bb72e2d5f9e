"""`kwire pipeline stream`: tables of captures that are still growing."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

import typer

from cli.pipeline import AsJson, Master, Output, Packages, print_summary, progress, session


def stream(
    folder: Annotated[
        str,
        typer.Argument(metavar="DIR", help="The folder, or URL, in which captures appear."),
    ],
    output: Output,
    master: Master = "local[*]",
    once: Annotated[
        bool, typer.Option("--once", help="Take what is there, and end; for a timer.")
    ] = False,
    every: Annotated[
        float, typer.Option(metavar="SECONDS", min=0, help="Look for more so often.")
    ] = 10.0,
    late: Annotated[
        float,
        typer.Option(
            metavar="SECONDS",
            min=0,
            help="How long a request waits for its response, by the time in the captures.",
        ),
    ] = 7200.0,
    files: Annotated[
        int, typer.Option(metavar="N", min=1, help="Captures in one batch, at most.")
    ] = 16,
    packages: Packages = None,
    as_json: AsJson = False,
) -> None:
    """Make tables of captures as they appear: frames, calls, messages, quorum, verdicts.

    `kwire proxy -w DIR` gives a capture its name when it is whole; it is read then, once. What was
    read is remembered in _stream, beside the tables: however the command ends, the next one goes on
    there, and every row comes into the tables once.

    \b
    kwire pipeline stream captures/ --output tables
    kwire pipeline stream captures/ --output tables --once
    """
    from pipeline.installed import require_spark

    require_spark()
    from pipeline.streaming.captures import ensure_folder, follow_captures
    from pipeline.streaming.job import stream as run

    ensure_folder(folder)  # before Spark takes its time to start
    with session(master, packages.split(",") if packages else []) as spark, progress(spark) as told:
        summary = run(
            follow_captures(spark, folder, files=files),
            output,
            every=None if once else timedelta(seconds=every),
            late=timedelta(seconds=late),
            told=told,
        )
    print_summary(summary, as_json)
    if summary.damages or summary.failed:
        raise typer.Exit(1)
