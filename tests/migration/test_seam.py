"""The house stands without the migration: nothing but the commands imports it or ZooKeeper."""

import subprocess
import sys

import pytest

WITHOUT = """
import asyncio, importlib, pkgutil, sys

LEFT_OUT = ("kwire.migration", "kwire.zookeeper", "kwire.cli")


class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.startswith(LEFT_OUT):
            raise ModuleNotFoundError(name)


sys.meta_path.insert(0, Absent())
import kwire

for module in pkgutil.walk_packages(kwire.__path__, "kwire.", onerror=lambda name: None):
    if not module.name.startswith(LEFT_OUT):
        importlib.import_module(module.name)

from kwire.admin import AdminClient
from kwire.testing import Quorum


async def lead() -> None:
    async with Quorum(1) as quorum:
        address = quorum.bootstrap_controllers
        async with AdminClient(bootstrap_controllers=address) as admin:
            print((await admin.describe_metadata_quorum()).leader_id)


asyncio.run(lead())
"""


@pytest.mark.costly
def test_every_other_room_works_without_it() -> None:
    run = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True)
    assert run.stdout == "3000\n", run.stderr
