"""UpdateFeatures of kraft.version at a running controller: raft's records, then the others."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from kwire.batches import read_batches
from kwire.batches.control_records import read_control_record
from kwire.batches.metadata_records import read_metadata_record
from kwire.controller.server.metadata.log_writer import LogWriter
from kwire.controller.server.node import ControllerNode
from kwire.error_codes import ErrorCode
from kwire.errors import ApiError
from kwire.messages.a57_update_features import (
    FeatureUpdateKey,
    UpdateFeaturesRequest,
    UpdateFeaturesResponse,
)
from kwire.messages.metadata_versions import KRAFT_VERSION
from kwire.net.connection import Connection
from tests.support.controller.live.java_nodes import segment, until_active
from tests.support.controller.live.static_controller import StaticKwire


def written(data: Path) -> list[str]:
    """Return the type of every record of a log."""
    return [
        type(
            read_control_record(record).message
            if batch.is_control
            else read_metadata_record(record.value or b"").record
        ).__name__
        for batch in read_batches(segment(data).read_bytes())
        for record in batch.records()
    ]


@asynccontextmanager
async def registered(folder: Path) -> AsyncIterator[tuple[StaticKwire, Connection]]:
    """Run a controller of static voters that has registered itself, with a client."""
    kwire = StaticKwire(folder, "4.0-IV3", {"metadata.max.idle.interval.ms": "0"})
    async with ControllerNode(kwire.config) as node:
        await until_active(node)
        await node.metadata.until(lambda: 3000 in node.metadata.image.cluster.controllers)
        at = node.config.listeners[0]
        async with await Connection.open("127.0.0.1", at.port) as connection:
            yield kwire, connection


BOTH = UpdateFeaturesRequest(
    feature_updates=[
        FeatureUpdateKey(feature="group.version", max_version_level=0, upgrade_type=2),
        FeatureUpdateKey(feature=KRAFT_VERSION, max_version_level=1),
    ]
)


async def code(connection: Connection, request: UpdateFeaturesRequest) -> int:
    answer = await connection.send(request)
    assert isinstance(answer, UpdateFeaturesResponse)
    return answer.error_code


async def test_rafts_records_come_first(tmp_path: Path) -> None:
    async with registered(tmp_path) as (kwire, connection):
        before = len(written(kwire.data))

        for request in (BOTH.replace(validate_only=True), BOTH, BOTH):
            assert await code(connection, request) == ErrorCode.NONE

        others = ["FeatureLevelRecord", "NoOpRecord"]
        found = written(kwire.data)[before:]
        assert found == ["KRaftVersionRecord", "VotersRecord", *others, *others]


async def test_nothing_is_written_if_raft_refuses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise ApiError(ErrorCode.INVALID_UPDATE_VERSION, "A voter is too old.")

    monkeypatch.setattr(LogWriter, "upgrade", refuse)
    async with registered(tmp_path) as (kwire, connection):
        before = written(kwire.data)

        assert await code(connection, BOTH) == ErrorCode.INVALID_UPDATE_VERSION
        only = BOTH.replace(validate_only=True)
        assert await code(connection, only) == ErrorCode.INVALID_UPDATE_VERSION
        assert written(kwire.data) == before
