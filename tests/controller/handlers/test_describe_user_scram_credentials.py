"""DescribeUserScramCredentials, after Kafka's ScramImage.

Brokers judge it in tests/controller/live/test_descriptions.py.
"""

from typing import Any

import pytest

from kwire.error_codes import ErrorCode
from kwire.messages.a50_describe_user_scram_credentials import (
    DescribeUserScramCredentialsRequest,
    UserName,
)
from kwire.messages.access_control import AclOperation
from kwire.messages.records.user_scram_credential import UserScramCredentialRecord
from tests.support.controller.handlers.acl_requests import ALICE, allow, guarded, on_cluster

FOUND, MISSING = 0, ErrorCode.RESOURCE_NOT_FOUND
TWICE = ErrorCode.DUPLICATE_RESOURCE


@pytest.fixture
def filled(lab: Any) -> Any:
    """A lab in which alice has a credential of each mechanism, bob one."""
    for name, mechanism, iterations in (("bob", 2, 8192), ("alice", 2, 4096), ("alice", 1, 5000)):
        lab.write(UserScramCredentialRecord(name=name, mechanism=mechanism, iterations=iterations))
    return lab


def described(lab: Any, names: list[str] | None) -> list[tuple[str, int, list[tuple[int, int]]]]:
    """Return user, code, and mechanism with iterations, of every result."""
    users = None if names is None else [UserName(name=name) for name in names]
    response = lab.ask(DescribeUserScramCredentialsRequest(users=users))
    assert response.error_code == 0
    assert all(bool(result.error_message) is bool(result.error_code) for result in response.results)
    return [
        (
            result.user,
            result.error_code,
            [(info.mechanism, info.iterations) for info in result.credential_infos],
        )
        for result in response.results
    ]


@pytest.mark.parametrize("names", [None, []])
def test_without_users_all_are_described(filled: Any, names: list[str] | None) -> None:
    assert described(filled, names) == [
        ("alice", FOUND, [(1, 5000), (2, 4096)]),
        ("bob", FOUND, [(2, 8192)]),
    ]


def test_each_user_has_its_own_error(filled: Any) -> None:
    assert described(filled, ["bob", "carol", "alice", "alice", "dave", "dave"]) == [
        ("bob", FOUND, [(2, 8192)]),
        ("carol", MISSING, []),
        ("alice", TWICE, []),
        ("dave", TWICE, []),
    ]


def test_it_needs_describe_on_the_cluster() -> None:
    lab = guarded()
    request = DescribeUserScramCredentialsRequest(users=None)
    refused = lab.ask(request, principal=ALICE)
    assert refused.error_code == ErrorCode.CLUSTER_AUTHORIZATION_FAILED
    allow(lab, on_cluster(AclOperation.DESCRIBE))
    assert lab.ask(request, principal=ALICE).error_code == 0
