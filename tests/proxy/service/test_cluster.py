"""A cluster of the service copies no more of a frame than somebody wants."""

from pathlib import Path
from typing import Any

import pytest

from kwire.proxy import Limits
from kwire.proxy.data_path.copies import COPY_LIMIT
from kwire.proxy.service.cluster import CODES_LIMIT, ClusterRuntime, View
from kwire.proxy.service.cluster_filters import LoadedFilters
from kwire.proxy.service.config import ClusterConfig, RecordConfig
from kwire.proxy.service.recording import ClusterRecording


def view(seen: Any) -> None:
    """Show nothing."""


def report(event: object) -> None:
    """Tell nobody."""


def cluster(recording: ClusterRecording | None, view: View | None = None) -> ClusterRuntime:
    listeners = [{"listen": "127.0.0.1:0", "upstream": "127.0.0.1:9092"}]
    loaded = LoadedFilters(ClusterConfig.model_validate({"listeners": listeners}))
    return ClusterRuntime(loaded, recording, Limits(), report=report, view=view, has_metrics=True)


@pytest.mark.parametrize(
    ("view", "frame_limit", "copied"),
    [
        (None, 100, CODES_LIMIT),
        (None, 1_000_000, 1_000_000),
        (None, None, COPY_LIMIT),
        (None, 2 * COPY_LIMIT, COPY_LIMIT),
        (view, 100, COPY_LIMIT),
    ],
)
async def test_no_more_is_copied_than_somebody_wants(
    tmp_path: Path, view: View | None, frame_limit: int | None, copied: int
) -> None:
    config = RecordConfig(path=tmp_path / "one.avro", frame_limit=frame_limit)
    recording = ClusterRecording(config, report)
    assert cluster(recording, view).proxy.copies.copy_limit == copied
    await recording.end()


def test_error_codes_alone_need_little_of_a_frame() -> None:
    assert cluster(None).proxy.copies.copy_limit == CODES_LIMIT
