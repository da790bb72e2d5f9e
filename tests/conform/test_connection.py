"""Servers that stop in the middle of a frame."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from types import MappingProxyType

import pytest

from kwire.conform.connection import CheckedConnection
from kwire.conform.reaction import ConnectionState
from kwire.conform.transcript import Transcript
from kwire.conform.vocabulary import Deviation, Skipped
from kwire.messages import ListGroupsRequest
from kwire.net.address import Address
from kwire.net.negotiation import NodeApiVersions, VersionRange
from tests.support.virtual_time import in_virtual_time

WHOLE = b"\0\0\0\4abcd"


@asynccontextmanager
async def connection_to(
    *sent: bytes,
    ends: bool,
    transcript: Transcript | None = None,
    offered: Mapping[int, VersionRange] = MappingProxyType({}),
) -> AsyncIterator[CheckedConnection]:
    """Yield a connection to a server that sends these bytes, then ends or falls silent."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for data in sent:
            writer.write(data)
            await writer.drain()
            await asyncio.sleep(0.01)
        if not ends:
            await reader.read()
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        address = Address(*server.sockets[0].getsockname()[:2])
        versions = NodeApiVersions(api_versions=dict(offered))
        connection = await CheckedConnection.open(
            address, versions=versions, transcript=transcript or Transcript()
        )
        yield connection
        await connection.close()


@pytest.mark.parametrize("length", range(1, len(WHOLE)))
@pytest.mark.parametrize("ends", [True, False])
@in_virtual_time
async def test_a_part_of_a_frame_is_no_frame_and_is_kept(length: int, ends: bool) -> None:
    transcript = Transcript()
    async with connection_to(WHOLE[:length], ends=ends, transcript=transcript) as connection:
        with pytest.raises(Deviation) as deviation:
            await connection.receive(0.2)
        seen = f"{length} of the 4 bytes of its size" if length < 4 else f"{length - 4} of its 4"
        assert seen in str(deviation.value)
        assert connection.state is (ConnectionState.CLOSED if ends else ConnectionState.SILENT)
        came = [chunk for chunk in transcript.chunks if not chunk.silent]
        assert came[-1].data == WHOLE[:length]
        assert [chunk.silent for chunk in transcript.chunks if chunk.silent] == (
            [] if ends else [0.2]
        )


@pytest.mark.parametrize("ends", [True, False])
@in_virtual_time
async def test_a_frame_may_come_in_parts(ends: bool) -> None:
    parts = [WHOLE[:1], WHOLE[1:5], WHOLE[5:]]
    async with connection_to(*parts, ends=ends) as connection:
        assert await connection.receive() == b"abcd"
        assert connection.state is ConnectionState.OPEN
        assert await connection.receive(0.2) is None


@in_virtual_time
async def test_an_api_of_which_no_version_is_asked_is_skipped_and_not_passed() -> None:
    versions = {ListGroupsRequest.key or 0: VersionRange(0, 3)}
    async with connection_to(ends=False, offered=versions) as connection:
        assert connection.offered(ListGroupsRequest, since=2) == [2, 3]
        with pytest.raises(Skipped, match="ListGroups up to v3: this begins with v4"):
            connection.offered(ListGroupsRequest, since=4)
