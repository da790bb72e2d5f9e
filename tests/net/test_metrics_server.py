"""The server of metrics answers what asks in HTTP, and is not held up by what does not."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import suppress

import pytest
from prometheus_client.core import GaugeMetricFamily, Metric

from kwire.errors import LocalError
from kwire.net.metrics_server import MetricsServer
from tests.support.http import ask


class One:
    """A single gauge."""

    def collect(self) -> Iterator[Metric]:
        yield GaugeMetricFamily("one", "Stands at 1.", value=1)


@pytest.mark.parametrize(
    ("head", "status"),
    [
        ("GET / HTTP/1.1", "404 Not Found"),
        ("POST /metrics HTTP/1.1", "405 Method Not Allowed"),
        ("hello", "400 Bad Request"),
    ],
)
async def test_what_does_not_read_metrics_is_told_so(head: str, status: str) -> None:
    async with MetricsServer(One(), "127.0.0.1", 0) as server:
        assert (await ask(server.port, head))[0] == f"HTTP/1.1 {status}"


async def test_it_closes_under_a_client_that_says_nothing_and_leaves_no_thread() -> None:
    threads = set(threading.enumerate())
    async with MetricsServer(One(), "127.0.0.1", 0) as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        assert (await ask(server.port, "HEAD /metrics HTTP/1.1"))[1] == ""
        assert set(threading.enumerate()) <= threads
    with pytest.raises(OSError, match=r"."):
        await asyncio.open_connection("127.0.0.1", server.port)
    async with asyncio.timeout(60):
        with suppress(ConnectionError):
            assert await reader.read() == b""
    writer.close()


async def test_an_address_that_is_taken_is_told_in_one_sentence() -> None:
    async with MetricsServer(One(), "127.0.0.1", 0) as server:
        said = f"no metrics at 127.0.0.1:{server.port}: Address already in use"
        with pytest.raises(LocalError, match=said):
            async with MetricsServer(One(), "127.0.0.1", server.port):
                pass


async def test_a_host_that_is_no_name_is_told() -> None:
    with pytest.raises(LocalError, match=r"no metrics at a\.\.b:1: that is no name of a host"):
        await MetricsServer(One(), "a..b", 1).__aenter__()


async def test_a_page_says_whether_all_is_well() -> None:
    state = {"well": True}
    pages = {"/ready": lambda: (state["well"], "ready" if state["well"] else "starting")}
    async with MetricsServer(One(), "127.0.0.1", 0, pages) as server:
        assert await ask(server.port, "GET /ready HTTP/1.1") == ("HTTP/1.1 200 OK", "ready\n")
        state["well"] = False
        status = "HTTP/1.1 503 Service Unavailable"
        assert await ask(server.port, "GET /ready?x HTTP/1.1") == (status, "starting\n")
