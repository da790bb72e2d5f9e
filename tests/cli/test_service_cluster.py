"""What a cluster of a service copies of a frame is what somebody wants of it."""

from pathlib import Path
from typing import Any

import pytest

from kwire.cli.service_cluster import CODES_LIMIT, ClusterService, Prepared, View
from kwire.proxy import Limits
from kwire.proxy.capture.recorder import Recorder, files_at
from kwire.proxy.data_path.copies import COPY_LIMIT
from kwire.proxy.service.config import ClusterConfig


def see(seen: Any) -> None:
    """Somebody looks."""


@pytest.mark.parametrize(
    ("view", "frame_limit", "copied"),
    [
        (None, 100, CODES_LIMIT),
        (None, 1_000_000, 1_000_000),
        (None, None, COPY_LIMIT),
        (None, 2 * COPY_LIMIT, COPY_LIMIT),
        (see, 100, COPY_LIMIT),
    ],
)
def test_no_more_is_copied_than_is_wanted(
    tmp_path: Path, view: View | None, frame_limit: int | None, copied: int
) -> None:
    listeners = [{"listen": "127.0.0.1:0", "upstream": "127.0.0.1:9092"}]
    prepared = Prepared(ClusterConfig.model_validate({"listeners": listeners}))
    recorder = Recorder(files_at(tmp_path / "one.avro"), frame_limit=frame_limit)
    service = ClusterService(prepared, recorder, Limits(), view=view, metered=True)
    assert service.proxy.copies.copy_limit == copied
    with recorder:
        pass


def test_error_codes_alone_need_little_of_a_frame() -> None:
    listeners = [{"listen": "127.0.0.1:0", "upstream": "127.0.0.1:9092"}]
    prepared = Prepared(ClusterConfig.model_validate({"listeners": listeners}))
    service = ClusterService(prepared, None, Limits(), view=None, metered=True)
    assert service.proxy.copies.copy_limit == CODES_LIMIT
