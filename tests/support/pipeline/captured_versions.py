"""The versions in captures as `kwire capture info` counts them, in the analysis' columns."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from kwire.capture.client_versions import used_versions
from kwire.capture.editing import events_of
from tests.support.capture.capture_records import read


def captured_versions(captures: Iterable[Path]) -> list[tuple[Any, ...]]:
    """Return the values of each row without the cluster, in order."""
    records = [record for path in captures for record in read(path)[0]]
    return [
        (
            *(one.client_id, one.api, one.lowest, one.highest),
            *(one.needed, one.blocked, one.calls, len(one.hosts)),
        )
        for one in used_versions(events_of(records, lambda damage: None))
    ]
