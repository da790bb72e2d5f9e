"""Fixtures for users' tests; a conftest.py names this plugin:

pytest_plugins = ["kwire.controller.pytest_plugin"]

def test_my_tool(kwire_quorum):
    run_my_tool("--bootstrap-controller", kwire_quorum.bootstrap_controllers)
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kwire.controller.server.background import BackgroundQuorum


@pytest.fixture
def kwire_quorum() -> Iterator[BackgroundQuorum]:
    """A quorum of three controllers that has a leader, new for each test."""
    with BackgroundQuorum(3) as quorum:
        yield quorum


@pytest.fixture
def kwire_controller() -> Iterator[BackgroundQuorum]:
    """A quorum of one controller, new for each test; it starts in a fraction of the time."""
    with BackgroundQuorum(1) as quorum:
        yield quorum
