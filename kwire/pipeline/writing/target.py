"""Tells tasks what an ingest writes, and where, and if it still does.

A task may outlive its ingest: Spark cancels a job at once, and its Python workers later. An ingest
marks that it is in work before its tasks begin, and takes the mark away before it removes what it
wrote. A task that has ended looks for the mark: without it, it removes what is there, its own files
with it. So whoever of both looks last sees the files of the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from kwire.pipeline.decoding import WITH_BODIES
from kwire.pipeline.store.ledger import IN_WORK, Ledger
from kwire.pipeline.store.location import Location, new_file


@dataclass(frozen=True, slots=True)
class WriteTarget:
    """The tables that are written, and their place.

    output: of the tables. staging: folder for requests and responses without the other; waiting:
    for those that wait for the next batch of a stream.
    """

    output: str
    ingest: str
    tables: tuple[str, ...]
    staging: str
    waiting: str = ""

    @property
    def bodies(self) -> bool:
        """True if the content of messages is needed."""
        return bool(WITH_BODIES & set(self.tables))


def mark(target: WriteTarget) -> None:
    """Mark an ingest as in work; `Ledger.clear` takes the mark away."""
    new_file(f"{target.staging}/{IN_WORK}").close()


@contextmanager
def removed_if_given_up(target: WriteTarget) -> Iterator[None]:
    """Remove what was written in the context if the ingest has failed meanwhile."""
    try:
        yield
    finally:
        filesystem, folder = Location.of(target.staging).files()
        if not filesystem.exists(f"{folder}/{IN_WORK}"):
            Ledger(Location.of(target.output)).discard(target.ingest)
