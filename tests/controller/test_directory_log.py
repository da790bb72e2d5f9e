"""A node's metadata directory as the raft core sees it."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from controller.directory_log import DirectoryLog
from kwire.logdir.format import FormatOptions, plan, write
from kwire.logdir.log import MetadataLog
from kwire.logdir.server_properties import StorageProperties


def test_an_opened_log_is_flushed_before_anything_in_it_is_acknowledged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = StorageProperties(
        node_id=1,
        roles=frozenset({"controller"}),
        log_dirs=(tmp_path,),
        metadata_log_dir=tmp_path,
        static_voters=False,
        controller_listener="CONTROLLER",
        controller_endpoint=("localhost", 9093),
    )
    options = FormatOptions(cluster_id="kwire-test-cluster-id0", standalone=True)
    write(plan(storage, options), datetime.now(UTC))
    flushed: list[MetadataLog] = []
    monkeypatch.setattr(MetadataLog, "flush", lambda log: flushed.append(log))
    log = DirectoryLog(storage)
    assert len(flushed) == 1
    log.close()
