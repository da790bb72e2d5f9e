"""A controller's listener whose service answers ApiVersions, and CreateTopics with nothing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Self

from kwire.codec.declaration import Request, Response
from kwire.codec.versions import Versions
from kwire.controller.server.config.listener_config import ListenerConfig
from kwire.controller.server.listener import ControllerListener
from kwire.messages.a18_api_versions import ApiVersionsRequest, ApiVersionsResponse
from kwire.messages.a19_create_topics import CreateTopicsRequest, CreateTopicsResponse
from kwire.net.frames import encode_request
from kwire.net.service import RequestContext

VERSIONS = encode_request(ApiVersionsRequest(), 3, correlation_id=7, client_id="c")


class EchoService:
    """Answers at once; CreateTopics only after `go_on` is set. served: the keys of its requests."""

    def __init__(self) -> None:
        self.served: list[int | None] = []
        self.go_on = asyncio.Event()
        self.go_on.set()

    @property
    def apis(self) -> Mapping[int, Versions]:
        return {18: Versions("0-4"), 19: Versions("2-7"), 30: Versions("1-3"), 64: Versions("0")}

    async def answer(self, request: Request, context: RequestContext) -> Response | None:
        self.served.append(type(request).key)
        if isinstance(request, CreateTopicsRequest):
            await self.go_on.wait()
            return CreateTopicsResponse()
        return ApiVersionsResponse()


@asynccontextmanager
async def echo_listener(service: EchoService, **settings: Any) -> AsyncIterator[int]:
    """Run a listener without TLS and SASL; yield its port."""
    config = ListenerConfig(
        name="CONTROLLER", host="127.0.0.1", port=0, advertised_host="localhost", advertised_port=1
    )
    listener = ControllerListener(config, service, **settings)
    await listener.start()
    try:
        yield listener.port
    finally:
        await listener.close()


async def answered(reader: asyncio.StreamReader) -> bytes:
    """Return the next frame; b"" if the connection ends instead."""
    try:
        return await reader.readexactly(int.from_bytes(await reader.readexactly(4), "big"))
    except (asyncio.IncompleteReadError, ConnectionError):
        return b""


class Clients:
    """Connections to a listener, which end with the context."""

    def __init__(self) -> None:
        self.writers: list[asyncio.StreamWriter] = []

    async def connect(self, port: int, data: bytes = b"") -> asyncio.StreamReader:
        """Open a connection and send data; return what reads from it."""
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        self.writers.append(writer)
        writer.write(data)
        return reader

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        for writer in self.writers:
            writer.transport.abort()
        await asyncio.sleep(0)
