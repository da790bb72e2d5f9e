"""A node takes its disk from its environment: a simulation loses nothing to the machine's."""

from pathlib import Path

import pytest

from kwire.controller.server.environment import Environment
from kwire.controller.server.quorum import Quorum
from kwire.errors import InvalidValue
from kwire.logdir.lock import DirectoryLock
from kwire.logdir.memory import MemoryFileSystem


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
