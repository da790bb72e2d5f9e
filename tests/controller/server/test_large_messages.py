"""While a large message is decoded or encoded, the listener answers everybody else.

The thread that works on the large message waits until another connection has had its answer, so
that a listener which did the work in its event loop would never end.
"""

import asyncio
import gc
import threading
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any, TypeVar

import pytest

from kwire.codec.declaration import Request, Response
from kwire.codec.versions import Versions
from kwire.controller.server import large_messages
from kwire.controller.server.config.listener_config import ListenerConfig
from kwire.controller.server.large_messages import (
    LARGE_FRAME,
    MANY,
    PIECE,
    has_many_elements,
    write,
)
from kwire.controller.server.listener import ControllerListener
from kwire.messages.a18_api_versions import ApiVersionsRequest, ApiVersionsResponse
from kwire.messages.a19_create_topics import (
    CreatableTopic,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from kwire.messages.a43_elect_leaders import (
    ElectLeadersResponse,
    PartitionResult,
    ReplicaElectionResult,
)
from kwire.net.connection import Connection
from kwire.net.service import RequestContext

PATIENCE = 60.0
LONG = CreateTopicsRequest(
    topics=[CreatableTopic(name=f"t{n}" * 5) for n in range(LARGE_FRAME // 10)]
)
LONG_ANSWER = CreateTopicsResponse(
    topics=[CreatableTopicResult(name=f"t{n}", configs=[]) for n in range(MANY)]
)
T = TypeVar("T")


class Topics:
    """Answers CreateTopics with results for MANY topics, or none."""

    def __init__(self) -> None:
        self.is_answer_long = False
        self.topics_asked_for = -1
        self.was_collector_enabled = True
        self.request: Request | None = None

    @property
    def apis(self) -> Mapping[int, Versions]:
        return {18: Versions("0-4"), 19: Versions("7")}

    async def answer(self, request: Request, context: RequestContext) -> Response | None:
        if not isinstance(request, CreateTopicsRequest):
            return ApiVersionsResponse()
        self.topics_asked_for, self.request = len(request.topics), request
        self.was_collector_enabled = gc.isenabled()
        return LONG_ANSWER.replace(topics=list(LONG_ANSWER.topics) if self.is_answer_long else [])


@pytest.fixture
def service() -> Topics:
    return Topics()


@pytest.fixture
async def port(service: Topics) -> AsyncIterator[int]:
    config = ListenerConfig(
        name="CONTROLLER",
        host="127.0.0.1",
        port=0,
        advertised_host="localhost",
        advertised_port=1,
    )
    listener = ControllerListener(config, service)
    await listener.start()
    yield listener.port
    await listener.close()


def held_until(answered: threading.Event, function: Callable[..., T]) -> Callable[..., T]:
    """The same function, as long as another connection waits for its answer."""

    def hold(*args: Any, **kwargs: Any) -> T:
        assert threading.current_thread() is not threading.main_thread()
        assert answered.wait(PATIENCE)
        return function(*args, **kwargs)

    return hold


async def answer_beside(port: int, request: Request, answered: threading.Event) -> Response:
    """The answer to a request, and meanwhile one to another connection."""
    async with (
        await Connection.open("127.0.0.1", port) as first,
        await Connection.open("127.0.0.1", port) as second,
    ):
        large = asyncio.create_task(first.send(request, 7, timeout=PATIENCE))
        await asyncio.sleep(0)
        await second.send(ApiVersionsRequest(), 0, timeout=PATIENCE)
        answered.set()
        return await large


async def test_others_are_answered_while_a_large_request_is_decoded(
    port: int, service: Topics, monkeypatch: pytest.MonkeyPatch
) -> None:
    answered = threading.Event()
    decode = held_until(answered, CreateTopicsRequest.decode_from)
    monkeypatch.setattr(CreateTopicsRequest, "decode_from", decode)

    await answer_beside(port, LONG, answered)

    assert service.topics_asked_for == len(LONG.topics)


async def test_others_are_answered_while_a_large_answer_is_encoded(
    port: int, service: Topics, monkeypatch: pytest.MonkeyPatch
) -> None:
    answered = threading.Event()
    service.is_answer_long = True
    encode = held_until(answered, CreateTopicsResponse.encode)
    monkeypatch.setattr(CreateTopicsResponse, "encode", encode)

    answer = await answer_beside(port, CreateTopicsRequest(), answered)

    assert answer == LONG_ANSWER


async def test_the_collector_rests_until_a_large_request_is_freed(
    port: int, service: Topics
) -> None:
    """Otherwise the collector would visit millions of elements at once, and free them at once."""
    await answer_beside(port, LONG, threading.Event())

    assert not service.was_collector_enabled
    assert gc.isenabled()
    assert isinstance(service.request, CreateTopicsRequest)
    assert service.request.topics == []


async def test_the_collector_rests_until_the_answer_to_a_large_request_is_encoded(
    port: int, service: Topics, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The response has as many elements as the request."""
    service.is_answer_long = True
    encode = CreateTopicsResponse.encode
    enabled: list[bool] = []

    def noted(response: CreateTopicsResponse, version: int) -> bytes:
        enabled.append(gc.isenabled())
        return encode(response, version)

    async def none_between(function: Callable[..., T], *args: Any, **kwargs: Any) -> T:
        enabled.append(gc.isenabled())
        return function(*args, **kwargs)

    monkeypatch.setattr(CreateTopicsResponse, "encode", noted)
    monkeypatch.setattr(asyncio, "to_thread", none_between)
    await answer_beside(port, LONG, threading.Event())
    assert len(enabled) >= 4
    assert not any(enabled)


async def test_a_collector_that_was_off_stays_off() -> None:
    gc.disable()
    try:
        for _ in range(2):
            await large_messages.in_thread_if(True, int)
        assert not gc.isenabled()
    finally:
        gc.enable()


def elections(topics: int, partitions: int) -> ElectLeadersResponse:
    results = [PartitionResult(partition_id=n, error_message=None) for n in range(partitions)]
    return ElectLeadersResponse(
        replica_election_results=[
            ReplicaElectionResult(topic=f"t{n}", partition_result=results) for n in range(topics)
        ]
    )


@pytest.mark.parametrize(
    ("topics", "partitions", "many"),
    [(0, 0, False), (1, 10, False), (MANY, 0, True), (1, MANY, True), (20, MANY // 20, True)],
)
def test_nested_elements_count(topics: int, partitions: int, many: bool) -> None:
    assert has_many_elements(elections(topics, partitions)) is many


class Writer:
    def __init__(self) -> None:
        self.pieces: list[bytes] = []
        self.drained = 0

    def write(self, data: memoryview) -> None:
        self.pieces.append(bytes(data))

    async def drain(self) -> None:
        self.drained += 1


async def test_a_large_answer_is_written_piece_by_piece() -> None:
    """TLS encrypts all that it is given at once."""
    writer: Any = Writer()
    answer = bytes(range(256)) * (PIECE // 100)

    await write(writer, answer, within=60)

    assert b"".join(writer.pieces) == answer
    assert max(map(len, writer.pieces)) <= PIECE
    assert writer.drained == len(writer.pieces)


async def test_an_answer_that_nobody_reads_is_given_up() -> None:
    """Else its connection, and its memory, would be held for ever."""

    class Stuck(Writer):
        async def drain(self) -> None:
            await asyncio.Event().wait()

    writer: Any = Stuck()
    with pytest.raises(TimeoutError):
        await write(writer, bytes(3 * PIECE), within=0.01)
    assert len(writer.pieces) == 1
