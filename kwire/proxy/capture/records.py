"""Flows and notices as the records of a capture, and back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kwire.capture import NOTICE, REQUEST, RESPONSE, CaptureRecord, Damage, Window
from kwire.capture.record import LEFT_OUT
from kwire.proxy.capture.redaction import Redacted, redacted
from kwire.proxy.flows.flow import (
    ClientConnection,
    Effect,
    Event,
    Flow,
    Notice,
    NoticeKind,
    Outcome,
)

_MICROS, _NANOS = 1_000_000, 1_000_000_000


def event_records(
    event: Event,
    number: int,
    capture: str,
    monotonic: float = 0.0,
    *,
    show_secrets: bool = False,
) -> Iterator[CaptureRecord]:
    """Yield one record for a notice; for a flow its request, and its response if there is one.

    number: of the event. monotonic: seconds, when a notice came.
    """
    if isinstance(event, Notice):
        yield _notice(event, number, capture, monotonic)
        return
    plain = Redacted(request=event.request_copy, response=event.response_copy)
    frames = plain if show_secrets else redacted(event)
    yield _request(event, frames, number, capture)
    if event.answered is not None:
        yield _response(event, frames, number, capture, event.answered)


def events(records: Iterable[CaptureRecord | Damage]) -> Iterator[Event | Damage]:
    """Yield the flows and notices of records in their order, and damage where it is.

    The recorder writes a response directly behind its request. If one of them is lost, the flow has
    a problem that says so.
    """
    connections = _RecordedConnections()
    request: CaptureRecord | None = None
    for record in records:
        if isinstance(record, Damage):
            yield record
            continue
        connection = connections.of(record)
        if request is not None:
            is_answer = record.kind == RESPONSE and _event_key(record) == _event_key(request)
            yield _decode_flow(connections.of(request), request, record if is_answer else None)
            request = None
            if is_answer:
                continue
        if record.kind == REQUEST:
            request = record
        elif record.kind == RESPONSE:
            yield _response_alone(connection, record)
        else:
            yield _decode_notice(connection, record)
    if request is not None:
        yield _decode_flow(connections.of(request), request, None)


def within(events: Iterable[Event | Damage], window: Window) -> Iterator[Event | Damage]:
    """Yield the events within a window of time, and all damage."""
    for event in events:
        if isinstance(event, Damage) or event.at in window:
            yield event


class _RecordedConnections:
    """One connection for each recorded one, updated as its records come."""

    def __init__(self) -> None:
        self._connections: dict[tuple[str, int], ClientConnection] = {}

    def of(self, record: CaptureRecord) -> ClientConnection:
        key = (record.capture, record.connection)
        connection = self._connections.get(key)
        if connection is None:
            connection = self._connections[key] = ClientConnection(
                number=record.connection,
                node_id=record.node_id,
                client=record.client,
                upstream=record.upstream,
                at=record.at_us / _MICROS,
            )
        if record.kind != NOTICE:
            connection.client_id = record.client_id
        if record.peer_id is not None:
            connection.peer = record.peer_id
        # A capture may have any number of connections: forget those that are closed.
        if record.notice == NoticeKind.CLOSED.name:
            del self._connections[key]
        return connection


def _event_key(record: CaptureRecord) -> tuple[str, int]:
    return record.capture, record.event


def _request(flow: Flow, frames: Redacted, number: int, capture: str) -> CaptureRecord:
    return _frame(
        flow,
        (capture, number, REQUEST),
        (flow.at, flow.asked),
        (flow.request_size, frames.request, frames.request_redaction),
        flow.outcome.name,
        tuple(flow.problems),
        flow.notes,
        tuple(effect.name for effect in flow.effects) if flow.effects else (),
    )


def _response(
    flow: Flow, frames: Redacted, number: int, capture: str, answered: float
) -> CaptureRecord:
    return _frame(
        flow,
        (capture, number, RESPONSE),
        # The latency is from the clock that never steps, and so is the time of the response.
        (flow.at + answered - flow.asked, answered),
        (flow.response_size, frames.response, frames.response_redaction),
    )


def _frame(
    flow: Flow,
    identity: tuple[str, int, str],
    times: tuple[float, float],
    content: tuple[int | None, bytes | None, str | None],
    ending: str | None = None,
    problems: tuple[str, ...] = (),
    notes: tuple[str, ...] = (),
    deeds: tuple[str, ...] = (),
) -> CaptureRecord:
    """identity: capture, number, kind. times: Unix, monotonic. content: size, frame, redaction."""
    connection = flow.connection
    return CaptureRecord(
        capture=identity[0],
        connection=connection.number,
        node_id=connection.node_id,
        peer_id=connection.peer,
        client=connection.client,
        upstream=connection.upstream,
        kind=identity[2],
        api_key=flow.key,
        api_version=flow.version,
        client_id=flow.client_id,
        event=identity[1],
        at_us=round(times[0] * _MICROS),
        monotonic_ns=round(times[1] * _NANOS),
        correlation_id=flow.correlation_id,
        size=content[0],
        frame=content[1],
        redaction=content[2],
        ending=ending,
        problems=problems,
        notes=notes,
        deeds=deeds,
    )


def _notice(notice: Notice, number: int, capture: str, monotonic: float) -> CaptureRecord:
    connection = notice.connection
    return CaptureRecord(
        capture=capture,
        connection=connection.number,
        node_id=connection.node_id,
        peer_id=connection.peer,
        client=connection.client,
        upstream=connection.upstream,
        kind=NOTICE,
        event=number,
        at_us=round(notice.at * _MICROS),
        monotonic_ns=round(monotonic * _NANOS),
        notice=notice.kind.name,
        text=notice.text,
    )


def _decode_flow(
    connection: ClientConnection, request: CaptureRecord, response: CaptureRecord | None
) -> Flow:
    flow = Flow(
        connection,
        request.api_key or 0,
        request.api_version or 0,
        request.correlation_id or 0,
        request.client_id,
        request.at_us / _MICROS,
        request.monotonic_ns / _NANOS,
        request.size or 0,
        request_copy=request.frame,
        outcome=_ending(request),
        problems=[*request.problems, *_left_out("request", request)],
        notes=request.notes,
        effects=tuple(Effect[name] for name in request.deeds if name in Effect.__members__),
    )
    if response is not None:
        _add_response(flow, response)
    elif flow.outcome is Outcome.ANSWERED:
        flow.problems.append("the response is lost from the capture")
    return flow


def _response_alone(connection: ClientConnection, response: CaptureRecord) -> Flow:
    """Return the flow of a response whose request is lost from the capture."""
    at, now = response.at_us / _MICROS, response.monotonic_ns / _NANOS
    key, version = response.api_key or 0, response.api_version or 0
    correlation_id = response.correlation_id or 0
    flow = Flow(connection, key, version, correlation_id, response.client_id, at, now, 0)
    flow.outcome = Outcome.ANSWERED
    flow.problems.append("the request is lost from the capture")
    _add_response(flow, response)
    return flow


def _add_response(flow: Flow, response: CaptureRecord) -> None:
    flow.answered = response.monotonic_ns / _NANOS
    flow.response_size = response.size
    flow.response_copy = response.frame
    flow.problems += _left_out("response", response)


def _left_out(half: str, record: CaptureRecord) -> list[str]:
    if record.redaction != LEFT_OUT:
        return []
    return [f"the {half} is not in the capture: it may hold secrets or names that must not be"]


def _decode_notice(connection: ClientConnection, record: CaptureRecord) -> Notice:
    kind = NoticeKind.__members__.get(record.notice or "", NoticeKind.UNREADABLE)
    text = record.text or ""
    at = record.at_us / _MICROS
    return Notice(connection=connection, at=at, kind=kind, text=text)


def _ending(record: CaptureRecord) -> Outcome:
    return Outcome.__members__.get(record.ending or "", Outcome.PENDING)
