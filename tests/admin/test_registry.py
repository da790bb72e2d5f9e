"""The registry is the truth: every row has a method, an Operation and a test of its theme."""

from importlib import import_module

import pytest

from admin_clients.emit import theme
from kwire.admin.client import AdminClient
from kwire.admin.operation import Operation
from kwire.admin.registry import OPERATIONS, Reach
from kwire.messages.registry import all_messages
from tests.support.paths import ROOT

WITHOUT_DRIVER = {"describe_cluster", "add_raft_voter", "remove_raft_voter"}
"""The router itself asks for the first; the answers of the others are awaited in another way."""


def test_an_operation_is_found_by_its_name(subtests: pytest.Subtests) -> None:
    for row in OPERATIONS:
        with subtests.test(row.name):
            assert callable(getattr(AdminClient, row.name))
            module = import_module(f"kwire.admin.{theme(row.name)}")
            if row.name not in WITHOUT_DRIVER:
                operation = getattr(module, row.name.upper())
                assert isinstance(operation, Operation)
                assert operation.row is row
            names = (theme(row.name), row.name)
            assert any(list((ROOT / "tests/admin").glob(f"test_{name}*.py")) for name in names)


def test_controllers_get_only_what_their_listeners_declare(subtests: pytest.Subtests) -> None:
    """The schemas of Kafka say which listeners have an API."""
    requests = {
        message.__name__.removesuffix("Request"): message
        for message in all_messages()
        if message.__name__.endswith("Request") and message.key is not None
    }
    for row in OPERATIONS:
        with subtests.test(row.name):
            assert set(row.apis) <= set(requests)
            if row.reach in (Reach.LISTED, Reach.UNLISTED):
                assert "controller" in requests[row.api].listeners


def test_a_method_of_java_is_one_operation() -> None:
    names = [name for row in OPERATIONS for name in row.java]
    assert len(names) == len(set(names)) == 61


def test_what_is_observed_has_the_function_for_it_and_nothing_else(
    subtests: pytest.Subtests,
) -> None:
    for module in {import_module(f"kwire.admin.{theme(row.name)}") for row in OPERATIONS}:
        for name, operation in vars(module).items():
            if isinstance(operation, Operation):
                with subtests.test(name):
                    is_observed = operation.row.reach is Reach.OBSERVED
                    assert (operation.observe is not None) is is_observed
