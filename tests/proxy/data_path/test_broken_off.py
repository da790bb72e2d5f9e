"""A peer ends inside a frame, in every data path: what came whole arrives, and both sides end."""

from itertools import product
from pathlib import Path

import pytest

from kwire.capture import REQUEST, CaptureRecord, read_capture
from kwire.messages.a00_produce import ProduceRequest
from kwire.proxy import NoticeKind, Outcome
from tests.support.eventually import eventually
from tests.support.proxy.broken_connections import (
    ASKED,
    CUTS,
    GRANTED,
    OVER_TLS,
    PATHS,
    DataPath,
    front,
    moved,
)
from tests.support.proxy.data_path.proxied_node import flows
from tests.support.proxy.dialogue import asked

pytestmark = pytest.mark.usefixtures("each_loop")

ENDS = ("closes", "resets")


@pytest.mark.parametrize("path", PATHS)
async def test_a_node_that_ends_inside_a_response_ends_its_client(
    path: str, tmp_path: Path, subtests: pytest.Subtests
) -> None:
    for cut, how in product(CUTS, ENDS):
        with subtests.test(cut=cut, how=how):
            capture = tmp_path / f"{cut}-{how}.avro"
            await a_node_ends_inside_a_response(PATHS[path], cut, how, capture)


async def a_node_ends_inside_a_response(way: DataPath, cut: int, how: str, file: Path) -> None:
    capture = file if way.records else None
    async with front(*way.filters(), taps=way.taps, record=capture) as here:
        client, node = await here.connect()
        client.writer.write(b"".join(ASKED))
        assert await node.exactly(len(b"".join(ASKED))) == b"".join(ASKED)
        node.writer.write(GRANTED[0])
        assert await client.exactly(len(way.arrives)) == way.arrives
        node.writer.write(GRANTED[1][:cut])
        await eventually(lambda: moved(here, client, len(GRANTED[0]) + cut))
        node.end(how)
        assert await client.rest() == (b"" if way.holds else GRANTED[1][:cut])
        client.end("closes")
        await here.gone()
    first, second = flows(here.events)
    assert (first.outcome, second.outcome) == (Outcome.ANSWERED, Outcome.LOST)
    (told,) = here.notice_texts(NoticeKind.BROKEN_OFF)
    assert told.startswith("node 3000 ")
    assert f"after {cut} " in told
    assert here.notice_texts(NoticeKind.CLOSED) == [told]
    assert here.notice_texts(NoticeKind.TIMED_OUT) == []
    if cut > 8:  # below, nobody can tell whose response it would have been
        assert any(
            f"{cut} of the response's {len(GRANTED[1])} bytes came" in problem
            for problem in second.problems
        )
    if capture is not None:
        assert records(capture) == ["ANSWERED", "LOST"]


@pytest.mark.parametrize("tls", OVER_TLS, ids=str)
@pytest.mark.parametrize("how", ENDS)
@pytest.mark.parametrize("path", ["tapped", "held"])
async def test_over_tls_a_node_that_ends_inside_a_response_ends_its_client(
    path: str, how: str, tls: tuple[bool, bool], tmp_path: Path
) -> None:
    way, cut = PATHS[path], 9
    async with front(*way.filters(), tls=tls, folder=tmp_path) as here:
        client, node = await here.connect()
        client.writer.write(b"".join(ASKED))
        assert await node.exactly(len(b"".join(ASKED))) == b"".join(ASKED)
        node.writer.write(GRANTED[0] + GRANTED[1][:cut])
        await eventually(lambda: moved(here, client, len(GRANTED[0]) + cut))
        node.end(how)
        assert await client.rest() == GRANTED[0] + (b"" if way.holds else GRANTED[1][:cut])
        client.end("closes")
        await here.gone()
    assert [flow.outcome for flow in flows(here.events)] == [Outcome.ANSWERED, Outcome.LOST]
    assert len(here.notice_texts(NoticeKind.BROKEN_OFF)) == 1
    assert here.notice_texts(NoticeKind.TIMED_OUT) == []


@pytest.mark.parametrize(
    "tls", [(False, False), (True, False), (False, True), (True, True)], ids=str
)
@pytest.mark.parametrize("path", ["tapped", "held"])
async def test_a_node_that_ends_between_frames_ends_its_client(
    path: str, tls: tuple[bool, bool], tmp_path: Path
) -> None:
    async with front(*PATHS[path].filters(), tls=tls, folder=tmp_path) as here:
        client, node = await here.connect()
        client.writer.write(ASKED[0])
        await node.exactly(len(ASKED[0]))
        node.end("closes")
        assert await client.rest() == b""
        client.end("closes")
        await here.gone()
    assert [flow.outcome for flow in flows(here.events)] == [Outcome.LOST]
    assert here.notice_texts(NoticeKind.BROKEN_OFF) == []


@pytest.mark.parametrize("tls", [(False, False), (True, True)], ids=str)
@pytest.mark.parametrize("path", PATHS)
async def test_a_client_that_ends_inside_a_request_ends_the_node_s_connection(
    path: str, tls: tuple[bool, bool], tmp_path: Path, subtests: pytest.Subtests
) -> None:
    for cut, how in product((3, 11, len(ASKED[1]) - 1), ENDS):
        with subtests.test(cut=cut, how=how):
            await a_client_ends_inside_a_request(path, cut, how, tls, tmp_path)


async def a_client_ends_inside_a_request(
    path: str, cut: int, how: str, tls: tuple[bool, bool], tmp_path: Path
) -> None:
    way = PATHS[path]
    async with front(*way.filters(), taps=way.taps, tls=tls, folder=tmp_path) as here:
        client, node = await here.connect()
        client.writer.write(ASKED[0])
        assert await node.exactly(len(ASKED[0])) == ASKED[0]
        client.writer.write(ASKED[1][:cut])
        await eventually(lambda: moved(here, node, len(ASKED[0]) + cut, requests=True))
        client.end(how)
        arrived = await node.rest()
        if how == "closes":
            passes = path == "rewritten" and cut > 11  # no request of Vote has an address
            held = way.holds and not passes
            assert arrived == (b"" if held else ASKED[1][:cut])
        node.end("closes")
        await here.gone()
    assert {flow.outcome for flow in flows(here.events)} == {Outcome.LOST}
    (told,) = here.notice_texts(NoticeKind.BROKEN_OFF)
    assert told.startswith("the client ")
    assert here.notice_texts(NoticeKind.TIMED_OUT) == []


async def test_a_produce_without_acks_that_breaks_off_is_told_all_the_same() -> None:
    produce = asked(ProduceRequest(acks=0), 9, 1)
    async with front() as here:
        client, node = await here.connect()
        client.writer.write(produce[:-1])
        assert await node.exactly(len(produce) - 1) == produce[:-1]
        client.end("closes")
        await node.rest()
        node.end("closes")
        await here.gone()
    (flow,) = flows(here.events)
    assert (flow.outcome, flow.problems) == (
        Outcome.LOST,
        [f"{len(produce) - 1} of the request's {len(produce)} bytes came"],
    )


def records(capture: Path) -> list[str | None]:
    """Return the outcomes of a recording's requests."""
    found = [record for record in read_capture(capture) if isinstance(record, CaptureRecord)]
    return [item.ending for item in found if item.kind == REQUEST]
