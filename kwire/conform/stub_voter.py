"""A stub of a controller, which a leader that is to add it asks for ApiVersions (KIP-853)."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from types import TracebackType
from typing import Self

from kwire.errors import KwireError
from kwire.messages.a18_api_versions import ApiVersion, ApiVersionsResponse, SupportedFeatureKey
from kwire.messages.registry import api_key
from kwire.net.frames import decode_request, encode_response

_REQUEST_LIMIT = 64 * 1024


class StubVoter:
    """Listens on a free port of a host, in an `async with`; `asked` is set by the first request.

    supports: the range of kraft.version that it answers; None answers nothing.
    """

    def __init__(self, host: str, supports: tuple[int, int] | None) -> None:
        self.host = host
        self.port = 0
        self.asked = asyncio.Event()
        self._supports = supports
        self._server: asyncio.Server | None = None
        self._writers: list[asyncio.StreamWriter] = []

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, self.host, 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._server is not None
        self._server.close()
        for writer in self._writers:
            writer.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.append(writer)
        with suppress(OSError, KwireError, asyncio.IncompleteReadError):
            while True:
                size = int.from_bytes(await reader.readexactly(4), "big")
                if size > _REQUEST_LIMIT:
                    break
                request = decode_request(await reader.readexactly(size))
                self.asked.set()
                if self._supports is not None:
                    correlation_id = request.header.correlation_id
                    answer = self._api_versions()
                    writer.write(
                        encode_response(answer, request.version, correlation_id=correlation_id)
                    )
        writer.close()

    def _api_versions(self) -> ApiVersionsResponse:
        assert self._supports is not None
        lowest, highest = self._supports
        feature = SupportedFeatureKey(name="kraft.version", min_version=lowest, max_version=highest)
        # A node of Kafka's sends nothing to who does not list it.
        listed = ApiVersion(api_key=api_key("ApiVersions"), min_version=0, max_version=4)
        return ApiVersionsResponse(api_keys=[listed], supported_features=[feature])
