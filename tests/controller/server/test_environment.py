"""A node takes its disk and its nonces from its environment, which may be a simulation's."""

from pathlib import Path
from random import Random

import pytest

from kwire.controller.authentication.scram import NONCE_LENGTH
from kwire.controller.server.environment import Environment
from kwire.errors import InvalidValue
from kwire.logdir.lock import DirectoryLock
from kwire.net.connection import Connection
from kwire.testing.quorum import Quorum
from memory_files import MemoryFileSystem
from tests.support.controller.sasl_listeners import FIRST_CREDENTIALS, sasl_listener, scram


async def test_every_file_of_a_node_is_in_the_file_system_of_its_environment(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "data"
    disk = MemoryFileSystem()
    async with Quorum(1, folder=folder, environment=Environment(filesystem=disk)) as quorum:
        (member,) = quorum.members.values()
        assert "meta.properties" in disk.names(member.folder)
        assert "quorum-state" in disk.names(member.folder / "__cluster_metadata-0")
        with pytest.raises(InvalidValue, match="another process uses"):
            DirectoryLock(member.folder, disk)
    DirectoryLock(member.folder, disk).close()
    assert not folder.exists()


async def test_the_nonces_of_logins_are_the_environments() -> None:
    random, lengths = Random(1), []

    def counted(length: int) -> bytes:
        lengths.append(length)
        return random.randbytes(length)

    properties = sasl_listener("PLAIN", "SCRAM-SHA-512")
    environment = Environment(token_bytes=counted)
    async with Quorum(
        1, properties=properties, scram=FIRST_CREDENTIALS, environment=environment
    ) as quorum:
        await quorum.wait_for_leader()
        port, before = quorum.members[3000].port, len(lengths)
        async with await Connection.open("127.0.0.1", port, sasl=scram()):
            assert lengths[before:] == [NONCE_LENGTH]
