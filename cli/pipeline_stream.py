"""`kwire pipeline stream`: tables of captures that are still growing."""

from __future__ import annotations

from contextlib import nullcontext
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from cli.failure import WrongUsage
from cli.pipeline import AsJson, Master, Output, Packages, print_summary, session
from cli.record_topic import topic_address

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from pyspark.sql import DataFrame, SparkSession

    from proxy.record_topic import TopicAddress


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
    from cli.pipeline_progress import Progress
    from pipeline.packages import KAFKA, coordinates
    from pipeline.streaming.captures import empty_captures, ensure_folder, follow_captures
    from pipeline.streaming.contact import ensure_topic
    from pipeline.streaming.job import stream as run
    from pipeline.streaming.topic import follow_topic

    jars = packages.split(",") if packages else []
    address = topic_address(topic) if topic is not None else None
    follow: Callable[[SparkSession], DataFrame]
    empty: list[str] = []
    if address is not None:
        ensure_topic(address)  # before Spark takes its time to start
        jars += coordinates([KAFKA])
        follow = partial(follow_topic, topic=address.topic, bootstrap=address.bootstrap)
    else:
        assert folder is not None
        ensure_folder(folder)
        empty = empty_captures(folder)
        follow = partial(follow_captures, folder=folder, files=files)
    with (
        session(master, jars) as spark,
        Progress(spark) as progress,
        _watched(address, progress.warned) as look,
    ):
        for sentence in empty if not once else ():  # its summary comes but in the end
            progress.warned(sentence)
        summary = run(
            follow(spark),
            output,
            every=None if once else timedelta(seconds=every),
            late=timedelta(seconds=late),
            told=progress.told,
            look=look,
        )
    summary.damages += empty if once else ()
    print_summary(summary, as_json)
    if summary.damages or summary.failed:
        raise typer.Exit(1)


def _watched(
    address: TopicAddress | None, warned: Callable[[str], None]
) -> AbstractContextManager[Callable[[], None]]:
    """Looks whether the cluster of a topic still answers; a folder needs no look."""
    from pipeline.streaming.contact import watched

    return nullcontext(lambda: None) if address is None else watched(address, warned)
