"""Fixtures of the handlers' tests."""

from collections.abc import Callable

import pytest

from tests.support.controller.handlers.lab import Lab


@pytest.fixture
def lab() -> Lab:
    """Without brokers, metadata.version 4.3-IV0."""
    return Lab()


@pytest.fixture
def make_lab() -> Callable[..., Lab]:
    """Makes a lab with another configuration."""
    return Lab


@pytest.fixture
def three(lab: Lab) -> Lab:
    """Brokers 1, 2 and 3 are active."""
    lab.start(1, 2, 3)
    return lab
