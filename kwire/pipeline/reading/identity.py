"""The identity of a metadata log: the node that it is of, and the node's cluster (KIP-631)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from kwire.errors import FileError
from kwire.logdir.meta_properties import parse_meta_properties
from kwire.logdir.names import META_PROPERTIES
from kwire.pipeline.reading.storage import open_file
from kwire.pipeline.store.location import is_local


@dataclass(frozen=True, slots=True)
class LogIdentity:
    """log: `NODE@CLUSTER`, or the folder where no meta.properties tells them."""

    log: str
    cluster_id: str | None = None
    node_id: int | None = None


@lru_cache(maxsize=1024)
def log_identity(folder: str) -> LogIdentity:
    """Return the identity of the log in a folder: meta.properties stands in the folder above.

    So that the same log is known again, whatever path it is given by.
    """
    whole = str(Path(folder).absolute()) if is_local(folder) else folder
    path = f"{whole.rpartition('/')[0]}/{META_PROPERTIES}"
    try:
        with open_file(path) as file:
            found = parse_meta_properties(file.read(), Path(path))
    except (FileNotFoundError, FileError):
        return LogIdentity(whole)
    if found.cluster_id is None or found.node_id is None:
        return LogIdentity(whole)
    return LogIdentity(f"{found.node_id}@{found.cluster_id}", found.cluster_id, found.node_id)
