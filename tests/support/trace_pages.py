"""Traces in a browser: flows of example messages, and pages made of flows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any

from selenium.webdriver import Chrome
from selenium.webdriver.support.ui import WebDriverWait

from kwire.cli.flows.record_tree import record_trees
from kwire.codec.declaration import Request, Response
from kwire.codec.examples import examples
from kwire.messages.headers import RequestHeader, ResponseHeader
from kwire.messages.index import APIS
from kwire.messages.registry import request, response
from kwire.net.frames import request_header_version, response_header_version
from kwire.proxy import ClientConnection, Event, Flow, Outcome
from kwire.trace.collected import Collected
from kwire.trace.document import make_document
from kwire.trace.page import page_of

BEGIN = 1_795_939_000.0


def flow_of(
    asked: Request,
    answer: Response | None,
    version: int,
    *,
    number: int = 0,
    client_id: str | None = "app",
    node_id: int | None = 1,
    peer: int | None = None,
    latency: float = 2**-8,
) -> Flow:
    """Return a flow whose frames are these messages. number: seconds after the beginning, too."""
    key = type(asked).key or 0
    client = ClientConnection(
        number=number % 7,
        node_id=node_id,
        client=f"10.0.0.{number % 7}:5000{number % 7}",
        upstream="10.1.0.1:9092",
        at=BEGIN,
        client_id=client_id,
        peer=peer,
    )
    header = RequestHeader(
        request_api_key=key,
        request_api_version=version,
        correlation_id=number,
        client_id=client_id,
    )
    frame = header.encode(request_header_version(key, version)) + asked.encode(version)
    flow = Flow(client, key, version, number, client_id, BEGIN + number, float(number), len(frame))
    flow.request_copy, flow.outcome = frame, Outcome.LOST
    if answer is not None:
        head = ResponseHeader(correlation_id=number).encode(response_header_version(key, version))
        flow.response_copy = head + answer.encode(version)
        flow.response_size = len(flow.response_copy)
        flow.answered, flow.outcome = number + latency, Outcome.ANSWERED
    return flow


def example_flows() -> Iterator[Flow]:
    """Yield flows of every API and version, with all examples of their messages."""
    number = 0
    for key in APIS:
        for version in request(key).versions:
            asked: list[Any] = [message for _, message, _ in examples(request(key), version)]
            answers: list[Any] = [message for _, message, _ in examples(response(key), version)]
            for message, answer in zip_longest(asked, answers, fillvalue=None):
                yield flow_of(message or asked[0], answer, version, number=number)
                number += 1


def collect(events: Iterable[Event], **options: Any) -> Collected:
    """Return what was collected of events."""
    collected = Collected(**options)
    for event in events:
        collected.add(event)
    return collected


def open_trace(chrome: Chrome, folder: Path, collected: Collected, address: str = "") -> None:
    """Make a page and open it; return when it is there, without errors in the console."""
    path = folder / "trace.html"
    path.write_bytes(page_of(*make_document(collected, record_trees, "a trace")))
    chrome.get(f"{path.as_uri()}{address}")
    ready = "return document.documentElement.dataset.ready"
    WebDriverWait(chrome, 20).until(lambda _: chrome.execute_script(ready))
    log: list[Any] = chrome.get_log("browser")  # type: ignore[no-untyped-call]
    assert [entry["message"] for entry in log] == []
