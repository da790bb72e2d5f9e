"""The progress of a Spark job on a terminal, from Spark's own status."""

from __future__ import annotations

from contextlib import suppress
from threading import Event, Thread
from typing import TYPE_CHECKING, Self

from kwire.cli.pipeline.interruption import raise_if_noted
from kwire.cli.screen import screen

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SECONDS = 0.5
"""Seconds between two looks at Spark's status."""


class JobProgress:
    """A line while the context lasts: the step, and finished tasks of all tasks."""

    def __init__(self, spark: SparkSession) -> None:
        self._tracker = spark.sparkContext.statusTracker()
        self._console = screen(stderr=True)
        self._status = self._console.status("starting")
        self._doing = "starting"
        self._ending = Event()
        self._thread = Thread(target=self._follow, name="progress", daemon=True)

    def show(self, doing: str) -> None:
        """Show a step from now on; print it as a line of its own if there is no terminal.

        Raises KeyboardInterrupt if a signal came during the step before.
        """
        raise_if_noted()
        self._doing = doing
        if not self._console.is_terminal:
            self._console.print(doing)

    def warn(self, sentence: str) -> None:
        """Print a warning."""
        self._console.print(sentence, style="yellow")

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._status.start()
            self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._ending.set()
        if self._thread.is_alive():
            self._thread.join()
            self._status.stop()

    def _follow(self) -> None:
        with suppress(Exception):  # the JVM is gone, which the work itself tells
            while not self._ending.wait(SECONDS):
                stages = map(self._tracker.getStageInfo, self._tracker.getActiveStageIds())
                known = [stage for stage in stages if stage is not None]
                done = sum(stage.numCompletedTasks for stage in known)
                tasks = sum(stage.numTasks for stage in known)
                self._status.update(f"{self._doing}: {done} of {tasks} tasks")
