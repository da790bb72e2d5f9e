"""A controller's listener reacts to bytes as Kafka 4.3.1 reacted to the same inputs."""

import asyncio
import struct
from collections.abc import AsyncIterator, Mapping

import pytest

from kwire.codec.declaration import Request, Response
from kwire.codec.versions import Versions
from kwire.controller.server.config.listener_config import ListenerConfig
from kwire.controller.server.listener import ControllerListener
from kwire.messages.a18_api_versions import ApiVersionsRequest, ApiVersionsResponse
from kwire.net.connection import Connection
from kwire.net.frames import decode_response, encode_request
from kwire.net.service import RequestContext
from tests.support.virtual_time import in_virtual_time

PATIENCE = 60.0


class Echo:
    """Answers ApiVersions with its own versions, the slower the earlier it is asked."""

    def __init__(self) -> None:
        self.contexts: list[RequestContext] = []

    @property
    def apis(self) -> Mapping[int, Versions]:
        return {18: Versions("0-4"), 52: Versions("0-2")}

    async def answer(self, request: Request, context: RequestContext) -> Response | None:
        self.contexts.append(context)
        await asyncio.sleep(0.05 if len(self.contexts) == 1 else 0)
        return ApiVersionsResponse(error_code=0, throttle_time_ms=len(self.contexts))


@pytest.fixture
def service() -> Echo:
    return Echo()


def config() -> ListenerConfig:
    return ListenerConfig(
        name="CONTROLLER",
        host="127.0.0.1",
        port=0,
        advertised_host="localhost",
        advertised_port=1,
    )


@pytest.fixture
async def port(service: Echo) -> AsyncIterator[int]:
    listener = ControllerListener(config(), service)
    await listener.start()
    yield listener.port
    await listener.close()


async def until_closed(port: int, data: bytes) -> bytes:
    """Everything that comes back until the listener closes."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    back = b""
    try:
        writer.write(data)
        async with asyncio.timeout(PATIENCE):
            while chunk := await reader.read(65536):
                back += chunk
        return back
    except ConnectionResetError:
        return back
    finally:
        writer.transport.abort()


async def answers(port: int, data: bytes, count: int) -> list[bytes]:
    """So many frames that come back; behind them, a good request is answered all the same."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)

    async def frame() -> bytes:
        return await reader.readexactly(int.from_bytes(await reader.readexactly(4), "big"))

    try:
        writer.write(data)
        async with asyncio.timeout(PATIENCE):
            frames = [await frame() for _ in range(count)]
            writer.write(GOOD)
            assert decode_response(await frame(), 18, 3).header.correlation_id == 7
        return frames
    finally:
        writer.transport.abort()


def sized(frame: bytes) -> bytes:
    return struct.pack(">i", len(frame)) + frame


def head(key: int, version: int) -> bytes:
    return struct.pack(">hhi", key, version, 7)


GOOD = encode_request(ApiVersionsRequest(), 3, correlation_id=7, client_id="c")


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(struct.pack(">i", 0), id="size 0"),
        pytest.param(struct.pack(">i", -1), id="size -1"),
        pytest.param(struct.pack(">i", -(1 << 31)), id="size -2^31"),
        pytest.param(struct.pack(">i", (1 << 31) - 1), id="size 2^31-1"),
        pytest.param(struct.pack(">i", (100 << 20) + 1), id="size 100 MiB + 1"),
        pytest.param(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(64), id="TLS"),
        pytest.param(b"GET / HTTP/1.1\r\n\r\n", id="HTTP"),
        pytest.param(sized(b"\0\x12"), id="frame of 2"),
        pytest.param(sized(bytes(7)), id="frame of 7"),
        pytest.param(sized(head(9999, 0) + b"\xff\xff"), id="API 9999"),
        pytest.param(sized(head(-1, 0) + b"\xff\xff"), id="API -1"),
        pytest.param(sized(head(52, 99) + b"\xff\xff"), id="a version that is not known"),
        pytest.param(sized(head(3, 1) + b"\xff\xff\0\0\0\0"), id="an API of brokers"),
        pytest.param(sized(head(52, 0) + b"\x7f\xff"), id="client id longer than the frame"),
        pytest.param(sized(head(52, 0) + b"\xff\xff\xff\xff\xff\xff\x0f"), id="2^32-1 tags"),
        pytest.param(sized(head(52, 0) + b"\xff\xff\1\0\xff\xff\xff\xff\7"), id="tag of 2^31-1"),
        pytest.param(sized(head(52, 0) + b"\xff\xff\x80\x80\x80\x80\x80\1"), id="6-byte varint"),
        pytest.param(sized(head(52, 0) + b"\xff\xff\0"), id="no body"),
        pytest.param(sized(head(52, 0) + b"\xff\xff\0\0\xff\xff\xff\xff\7"), id="array of 2^31"),
    ],
)
async def test_what_kafka_closes_at_is_closed_at(port: int, data: bytes, service: Echo) -> None:
    assert await until_closed(port, data) == b""
    assert service.contexts == []


@pytest.mark.parametrize("version", [99, -1])
async def test_an_unknown_version_of_api_versions_gets_a_v0_body_with_error_35(
    port: int, version: int
) -> None:
    (back,) = await answers(port, sized(head(18, version) + b"\xff\xff"), 1)
    assert back == struct.pack(">ihihhh", 7, 35, 1, 18, 0, 4)  # as the live session compares it


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"\xff\xfe\0\1\1\0", id="client id of length -2"),
        pytest.param(b"\0\2\xff\xfe\0\1\1\0", id="client id that is not UTF-8"),
        pytest.param(b"\xff\xff\0\1\1\0" + b"extra", id="5 bytes behind the body"),
    ],
)
async def test_what_kafka_answers_is_answered(port: int, body: bytes) -> None:
    (back,) = await answers(port, sized(head(18, 3) + body), 1)
    assert decode_response(back, 18, 3).header.correlation_id == 7


async def test_requests_that_come_together_are_answered_in_their_order(
    port: int, service: Echo
) -> None:
    frames = await answers(port, GOOD + GOOD, 2)
    bodies = [decode_response(frame, 18, 3).body for frame in frames]
    assert [getattr(body, "throttle_time_ms", None) for body in bodies] == [1, 2]


async def test_a_request_may_come_byte_by_byte(port: int, service: Echo) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for index in range(len(GOOD)):
        writer.write(GOOD[index : index + 1])
        await asyncio.sleep(0)
    assert len(await reader.readexactly(4)) == 4
    writer.transport.abort()
    assert [
        (context.client_id, context.version, context.listener) for context in service.contexts
    ] == [("c", 3, "CONTROLLER")]


@in_virtual_time
async def test_a_silent_connection_is_closed_when_its_time_is_over(service: Echo) -> None:
    listener = ControllerListener(config(), service, idle=0.1)
    await listener.start()
    assert await until_closed(listener.port, b"") == b""
    await listener.close()


async def test_one_bad_connection_disturbs_no_other(port: int) -> None:
    async with await Connection.open("127.0.0.1", port) as good:
        for _ in range(20):
            assert await until_closed(port, struct.pack(">i", -1)) == b""
        await good.send(ApiVersionsRequest(), 3)


class Throttling(Echo):
    """Answers ApiVersions with a throttle time."""

    def __init__(self, throttle_time_ms: int) -> None:
        super().__init__()
        self._throttle_time_ms = throttle_time_ms

    async def answer(self, request: Request, context: RequestContext) -> Response | None:
        self.contexts.append(context)
        return ApiVersionsResponse(throttle_time_ms=self._throttle_time_ms)


@in_virtual_time
async def test_a_throttled_client_is_answered_at_once_and_its_next_request_is_read_later() -> None:
    service = Throttling(700)
    listener = ControllerListener(config(), service)
    await listener.start()
    try:
        began = asyncio.get_running_loop().time()
        async with await Connection.open("127.0.0.1", listener.port) as connection:
            await connection.send(ApiVersionsRequest(), 3)
            assert asyncio.get_running_loop().time() - began >= 0.7
            await connection.send(ApiVersionsRequest(), 3)
            assert asyncio.get_running_loop().time() - began >= 1.4
        assert len(service.contexts) == 3
    finally:
        await listener.close()


@in_virtual_time
async def test_a_client_that_is_throttled_for_longer_than_it_may_be_idle_is_cut_off() -> None:
    service = Throttling(2**31 - 1)
    listener = ControllerListener(config(), service, idle=0.2)
    await listener.start()
    try:
        back = await until_closed(listener.port, 2 * GOOD)
        assert decode_response(back[4:], 18, 3).header.correlation_id == 7
        assert len(service.contexts) == 1
    finally:
        await listener.close()
