"""Fixtures of the tests of a controller that migrates."""

from collections.abc import Callable

import pytest

from tests.support.controller.handlers.lab import Lab


@pytest.fixture
def make_lab() -> Callable[..., Lab]:
    """Makes a state machine with a configuration."""
    return Lab
