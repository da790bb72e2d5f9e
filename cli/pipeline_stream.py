"""`kwire pipeline stream`: tables of captures that are still growing."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from cli.failure import WrongUsage
from cli.pipeline import AsJson, Master, Output, Packages, print_summary, progress, session
from cli.record_topic import topic_address

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame, SparkSession


def stream(
    output: Output,
    folder: Annotated[
        str | None,
        typer.Argument(metavar="DIR", help="The folder, or URL, in which captures appear."),
    ] = None,
    topic: Annotated[
        str | None,
        typer.Option(
            metavar="TOPIC@HOST:PORT", help="Read what kwire proxy --record-topic wrote instead."
        ),
    ] = None,
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
    kwire pipeline stream --topic captures@kafka:9092 --output tables
    """
    if (folder is None) == (topic is None):
        raise WrongUsage("give a folder of captures, or --topic, and not both.")
    from pipeline.installed import require_spark

    require_spark()
    from pipeline.packages import KAFKA, coordinates
    from pipeline.streaming.captures import ensure_folder, follow_captures
    from pipeline.streaming.job import stream as run
    from pipeline.streaming.topic import follow_topic

    jars = packages.split(",") if packages else []
    follow: Callable[[SparkSession], DataFrame]
    if folder is not None:
        ensure_folder(folder)  # before Spark takes its time to start
        follow = partial(follow_captures, folder=folder, files=files)
    else:
        address = topic_address(topic or "")
        jars += coordinates([KAFKA])
        follow = partial(follow_topic, topic=address.topic, bootstrap=address.bootstrap)
    with session(master, jars) as spark, progress(spark) as told:
        summary = run(
            follow(spark),
            output,
            every=None if once else timedelta(seconds=every),
            late=timedelta(seconds=late),
            told=told,
        )
    print_summary(summary, as_json)
    if summary.damages or summary.failed:
        raise typer.Exit(1)
