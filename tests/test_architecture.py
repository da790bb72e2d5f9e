"""architecture.md: its drawings are today's, and so is the chain in CONTRIBUTING.md."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest

from drawings import floors, ways
from drawings.places import CONTRIBUTING, PAGE, RPCS, places
from kwire.messages.a19_create_topics import (
    CreatableTopic,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from kwire.messages.a52_vote import VoteRequest
from kwire.net.address import Address
from kwire.proxy import Call, Filter, Filters, Listener, Proxy
from kwire.testing import Quorum
from simulated_broker import SimulatedBroker
from tests.support.paths import ROOT
from tests.support.pipeline.decodable_calls import write_captures
from tests.support.proxy.data_path.proxied_node import GRANTED, VOTE, grant, node
from tests.support.trace import entered

WAYS = (
    ways.REQUEST_THROUGH_THE_CONTROLLER,
    ways.FRAME_THROUGH_THE_PROXY,
    ways.FRAME_INTO_A_TABLE,
)


def test_the_drawings_are_todays() -> None:
    from drawings.__main__ import drawn, with_chain

    page, guide = PAGE.read_text(), CONTRIBUTING.read_text()
    assert drawn(page) == page, "run `python -m drawings`"
    assert with_chain(guide) == guide, "run `python -m drawings`"


def test_every_room_has_a_floor() -> None:
    rooms = {path.parent.name for path in ROOT.glob("kwire/*/__init__.py")}
    rooms |= {path.stem for path in ROOT.glob("kwire/*.py") if not path.stem.startswith("__")}
    assert sorted(chain.from_iterable(floors.layers())) == sorted(rooms)


def test_a_docstring_says_in_a_few_words_what_its_room_is() -> None:
    rooms = chain.from_iterable(floors.floors())
    assert not [room.path for room in rooms if not 2 <= len(room.words.split()) <= 4]


def test_a_size_stays_until_a_room_has_grown_by_a_tenth(tmp_path: Path) -> None:
    layers = '[[tool.importlinter.contracts]]\nname = "Arrows point down"\n'
    (tmp_path / "pyproject.toml").write_text(f'{layers}layers = ["kwire.one | kwire.two"]\n')
    room = tmp_path / "kwire" / "two"
    room.mkdir(parents=True)
    (tmp_path / "kwire" / "one.py").write_text('"""Room one: small. It has more."""\n')
    page = ""
    for lines, shown in ((96, "96"), (104, "96"), (107, "110"), (120, "110"), (2160, "2,200")):
        (room / "__init__.py").write_text('"""Room two."""\n' * lines)
        page = floors.drawing(floors.floors(tmp_path, page))
        assert f'    two["<b>two</b><br/>Room two<br/>{shown} lines"]:1' in page
    assert '    one["<b>one</b><br/>Room one<br/>1 lines"]:1' in page
    assert "style two fill:#d3ddf8" in page


def test_a_stop_is_a_function_with_a_docstring(subtests: pytest.Subtests) -> None:
    for stop in chain.from_iterable(WAYS):
        with subtests.test(stop):
            assert ways.sentence(stop)


def ordered(names: Sequence[str], stops: Sequence[str]) -> list[str]:
    """Return those of the names that are stops, in the order of the names."""
    return [name for name in names if name in stops]


async def test_a_request_takes_its_way_through_the_controller() -> None:
    async with Quorum(1) as quorum:
        address = Address.parse(quorum.bootstrap_controllers)
        broker = await SimulatedBroker.open(1, address.host, address.port)
        topic = CreatableTopic(name="events", num_partitions=1, replication_factor=1)
        request = CreateTopicsRequest(topics=[topic], timeout_ms=60_000)
        with entered() as names:
            response = await broker.connection.send(request)
        await broker.close()
    assert isinstance(response, CreateTopicsResponse)
    assert [result.error_code for result in response.topics] == [0]
    stops = ways.REQUEST_THROUGH_THE_CONTROLLER
    assert ordered(names, stops) == list(stops)


class VoterSeven(Filter):
    """Changes the voter of every Vote."""

    def on_vote_request(self, request: VoteRequest, call: Call) -> None:
        request.voter_id = 7


async def test_a_frame_takes_its_way_through_the_proxy() -> None:
    async with node(grant) as upstream:
        listener = Listener(node_id=3000, upstream=upstream)
        async with Proxy([listener], filters=Filters([VoterSeven()])) as proxy:
            address = proxy.addresses[listener]
            reader, writer = await asyncio.open_connection(address.host, address.port)
            with entered() as names:
                writer.write(VOTE)
                assert await reader.readexactly(len(GRANTED)) == GRANTED
            writer.close()
    stops = ways.FRAME_THROUGH_THE_PROXY
    assert ordered(names, stops) == list(stops)


def test_a_frame_takes_its_way_into_a_table(tmp_path: Path) -> None:
    import pyarrow as pa

    from kwire.pipeline.reading.planning import plan
    from kwire.pipeline.reading.storage import CAPTURED, find
    from kwire.pipeline.schemas import OF_CAPTURES
    from kwire.pipeline.store.ledger import Ingest, Ledger
    from kwire.pipeline.store.location import Location
    from kwire.pipeline.writing.reports import Report
    from kwire.pipeline.writing.target import WriteTarget
    from kwire.pipeline.writing.tasks import write_slices

    captures, output = tmp_path / "captures", str(tmp_path / "tables")
    captures.mkdir()
    write_captures(captures, captures=1, calls=1)
    target = WriteTarget(output, "one", OF_CAPTURES, f"{output}/_ingests/one")
    task = pa.RecordBatch.from_pydict({"id": [0]})
    with entered() as names:
        slices = plan(find([str(captures)], CAPTURED), 1 << 20)
        (row,) = write_slices(target, SimpleNamespace(value=slices), [task])
        report = msgspec.json.decode(row["report"][0].as_py(), type=Report)
        Ledger(Location(output)).publish(
            Ingest(
                id="one",
                tables=list(OF_CAPTURES),
                files=report.files,
                stretches=report.stretches,
            )
        )
    assert ordered(names, ways.FRAME_INTO_A_TABLE) == list(ways.FRAME_INTO_A_TABLE)


def test_a_name_leads_to_everything_about_an_rpc() -> None:
    for rpc, rooms in RPCS.items():
        for room in rooms:
            assert places(rpc, room), f"{rpc} has no {room}"


def test_the_page_names_files_that_exist() -> None:
    for word in PAGE.read_text().split():
        path = word.strip("`.,;()")
        if path.startswith(("kwire/", "tests/", "fixtures/")) and path.endswith(".py"):
            assert Path(ROOT, path).is_file(), path
