"""`kwire pipeline stream`: tables of captures that are still growing."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

import typer

from kwire.cli.errors import WrongUsage, usage_errors
from kwire.cli.options import argument, flag, option, reads_options
from kwire.cli.pipeline.commands import AS_JSON, MASTER, OUTPUT, PACKAGES, print_summary, session

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from pyspark.sql import SparkSession

    from kwire.pipeline.streaming.job import StreamSource
    from kwire.proxy.capture.record_topic import TopicAddress


@reads_options
def stream(
    output: str = OUTPUT,
    folder: str | None = argument(
        default=None, metavar="DIR", help="The folder, or URL, in which captures appear."
    ),
    topic: str | None = option(
        metavar="TOPIC@HOST:PORT", help="Read what kwire proxy --record-topic wrote instead."
    ),
    master: str = MASTER,
    once: bool = flag("--once", help="Process what is there, then end; for a timer."),
    every: float = option(default=10.0, metavar="SECONDS", min=0, help="Look for more so often."),
    late: float = option(
        default=7200.0,
        metavar="SECONDS",
        min=0,
        help="How long a request waits for its response, by the time in the captures.",
    ),
    files: int = option(default=16, metavar="N", min=1, help="Captures in one batch, at most."),
    packages: str | None = PACKAGES,
    as_json: bool = AS_JSON,
) -> None:
    """Make tables of captures as they appear: frames, calls, messages, quorum, verdicts.

    `kwire proxy -w DIR` gives a capture its name when it is whole; it is read then, once. What was
    read is remembered in _stream, beside the tables: however the command ends, the next one goes on
    there, and every row comes into the tables once, a batch in all tables or in none.

    \b
    kwire pipeline stream captures/ --output tables
    kwire pipeline stream captures/ --output tables --once
    kwire pipeline stream --topic captures@kafka:9092 --output tables
    """
    if (folder is None) == (topic is None):
        raise WrongUsage("give a folder of captures, or --topic, and not both.")
    from kwire.pipeline.installed import require_spark

    require_spark()
    from kwire.cli.pipeline.progress import JobProgress
    from kwire.pipeline.opening import ensure_no_plain_tables
    from kwire.pipeline.streaming.job import stream as run

    ensure_no_plain_tables(output)
    jars = packages.split(",") if packages else []
    address = _topic_address(topic) if topic is not None else None
    source = _topic(address) if address is not None else _folder(folder or "", files)
    jars += source.packages
    with (
        session(master, jars) as spark,
        JobProgress(spark) as progress,
        _watched(address, progress.warn) as look,
    ):
        for sentence in source.empty if not once else ():  # without an end, there is no summary
            progress.warn(sentence)
        summary = run(
            source.open(spark),
            output,
            every=None if once else timedelta(seconds=every),
            late=timedelta(seconds=late),
            on_step=progress.show,
            look=look,
        )
    summary.damages += source.empty if once else ()
    summary.damaged += len(source.empty) if once else 0
    print_summary(summary, as_json)
    if summary.damaged or summary.failed:
        raise typer.Exit(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Source:
    """A source of captures.

    packages: Spark's, which reading it takes. empty: a sentence for each file without records.
    """

    open: Callable[[SparkSession], StreamSource]
    packages: Sequence[str] = ()
    empty: Sequence[str] = ()


def _topic_address(text: str) -> TopicAddress:
    """Return the topic of an option. Raises WrongUsage."""
    from kwire.proxy.capture.record_topic import TopicAddress

    with usage_errors():
        return TopicAddress.parse(text)


def _topic(address: TopicAddress) -> _Source:
    """Check that a topic can be reached, before Spark takes its time to start."""
    from kwire.pipeline.installed import KAFKA, coordinates
    from kwire.pipeline.streaming.contact import ensure_topic
    from kwire.pipeline.streaming.topic import messages

    ensure_topic(address)
    opened = partial(messages, topic=address.topic, bootstrap=address.bootstrap)
    return _Source(open=opened, packages=coordinates([KAFKA]))


def _folder(folder: str, files: int) -> _Source:
    """Check that a folder is there. files: captures in one batch, at most."""
    from kwire.pipeline.streaming.captures import captures, empty_captures, ensure_folder

    ensure_folder(folder)
    return _Source(open=partial(captures, folder=folder, files=files), empty=empty_captures(folder))


def _watched(
    address: TopicAddress | None, warned: Callable[[str], None]
) -> AbstractContextManager[Callable[[], None]]:
    """Return a context that checks that the cluster of a topic answers; nothing for a folder."""
    from kwire.pipeline.streaming.contact import watched

    return nullcontext(lambda: None) if address is None else watched(address, warned)
