"""The members of a quorum: their settings, and the port that each keeps."""

import socket
from pathlib import Path

import pytest

from kwire.errors import InvalidValue
from kwire.logdir.names import META_PROPERTIES
from kwire.testing import Quorum


async def test_a_members_settings_override_those_of_all_and_every_voter_is_named(
    tmp_path: Path,
) -> None:
    quorum = Quorum(2, folder=tmp_path, properties={"a": "all", "b": "all"})
    member = quorum.add_member(3100, properties={"b": "own"})
    quorum.advertise(3000, "proxy", 9093)
    try:
        written = quorum.server_properties(3100)
        assert (written["a"], written["b"], written["node.id"]) == ("all", "own", "3100")
        assert written["log.dirs"] == str(member.folder) == str(tmp_path / "node-3100")
        voter = quorum.members[3001].port
        assert written["controller.quorum.bootstrap.servers"] == f"proxy:9093,127.0.0.1:{voter}"
        assert quorum.server_properties(3000)["advertised.listeners"] == "CONTROLLER://proxy:9093"
        with pytest.raises(InvalidValue, match="there is a controller 3100 already"):
            quorum.add_member(3100)
    finally:
        await quorum.stop()


async def test_a_taken_port_is_told_and_nothing_is_left_open(tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(OSError, match=f"{port}.*address already in use"):
            async with Quorum(1, folder=tmp_path, ports=[port]):
                pass
    async with Quorum(1, folder=tmp_path, ports=[port]) as quorum:
        assert quorum.bootstrap_controllers == f"127.0.0.1:{port}"


async def test_a_directory_is_formatted_once(tmp_path: Path) -> None:
    async with Quorum(1, folder=tmp_path) as quorum:
        member = quorum.members[3000]
        before = (member.folder / META_PROPERTIES).read_bytes()
        await quorum.restart(3000)
        assert await quorum.wait_for_leader() == 3000
        assert (member.folder / META_PROPERTIES).read_bytes() == before
