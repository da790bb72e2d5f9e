"""The names that users import from `kwire.controller`, and the modules that this loads."""

import subprocess
import sys
from importlib import import_module

import pytest

import kwire.controller
from kwire.admin import AdminClient
from kwire.proxy import Filter
from kwire.testing import Quorum

SANS_IO = """
import sys
import kwire.controller.raft
import kwire.controller.state_machine.quorum_controller
sys.exit("asyncio" in sys.modules)
"""


def test_users_import_from_the_rooms_themselves() -> None:
    assert Quorum is import_module("kwire.testing.quorum").Quorum
    assert Filter is import_module("kwire.proxy.filters.filter").Filter
    assert AdminClient is import_module("kwire.admin.client").AdminClient


def test_every_public_name_is_there() -> None:
    for name in kwire.controller.__all__:
        assert getattr(kwire.controller, name).__name__ == name


def test_another_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'Broker'"):
        getattr(kwire.controller, "Broker")  # noqa: B009 - mypy refuses the plain form


def test_raft_and_the_state_machine_load_no_event_loop() -> None:
    subprocess.run([sys.executable, "-c", SANS_IO], check=True)
