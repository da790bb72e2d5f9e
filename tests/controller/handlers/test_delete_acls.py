"""DeleteAcls, after Kafka's AclControlManagerTest."""

from typing import Any

import pytest

from kwire.controller.handlers import delete_acls
from kwire.error_codes import ErrorCode
from kwire.messages.a31_delete_acls import DeleteAclsFilter, DeleteAclsRequest
from kwire.messages.access_control import (
    AclOperation,
    AclPermission,
    AclResourceType,
    PatternType,
)
from tests.support.controller.handlers.acl_requests import allow, creation, guarded
from tests.support.controller.handlers.lab import Lab

READ = AclOperation.READ


def wanted(**changes: Any) -> DeleteAclsFilter:
    return DeleteAclsFilter(
        resource_type_filter=AclResourceType.ANY,
        resource_name_filter=None,
        principal_filter=None,
        host_filter=None,
        pattern_type_filter=PatternType.ANY,
        operation=AclOperation.ANY,
        permission_type=AclPermission.ANY,
    ).replace(**changes)


def delete(lab: Lab, *filters: DeleteAclsFilter) -> list[tuple[int, list[str]]]:
    response = lab.ask(DeleteAclsRequest(filters=list(filters)))
    return [
        (result.error_code, sorted(acl.resource_name for acl in result.matching_acls))
        for result in response.filter_results
    ]


def names(lab: Lab) -> list[str]:
    return sorted(acl.resource_name for acl in lab.image.acls.by_id.values())


def test_what_filters_match_is_removed_and_listed_for_each() -> None:
    lab = guarded()
    allow(lab, *(creation(READ, name) for name in ("a", "b", "c")))
    before = len(lab.log)

    results = delete(
        lab,
        wanted(resource_name_filter="a"),
        wanted(resource_name_filter="x"),
        wanted(resource_name_filter="b"),
        wanted(resource_name_filter="b"),
    )

    assert results == [(0, ["a"]), (0, []), (0, ["b"]), (0, ["b"])]
    assert names(lab) == ["c"]
    assert len(lab.log) == before + 2


@pytest.mark.parametrize(
    "changes",
    [
        {"resource_type_filter": 99},
        {"pattern_type_filter": 99},
        {"operation": 99},
        {"permission_type": 99},
    ],
    ids=str,
)
def test_a_filter_that_is_not_known_is_refused_by_itself(changes: dict[str, Any]) -> None:
    lab = guarded()
    allow(lab, creation(READ))

    assert delete(lab, wanted(**changes), wanted()) == [
        (ErrorCode.INVALID_REQUEST, []),
        (0, ["foo"]),
    ]


def test_a_filter_that_matches_too_much_removes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delete_acls, "MAX_RECORDS", 2)
    lab = guarded()
    allow(lab, *(creation(READ, name) for name in ("a", "b", "c")))

    results = delete(lab, wanted(resource_name_filter="a"), wanted())

    assert results == [(0, ["a"]), (ErrorCode.UNKNOWN_SERVER_ERROR, [])]
    assert names(lab) == ["b", "c"]


def test_without_an_authorizer_there_are_no_acls_to_delete(lab: Lab) -> None:
    assert delete(lab, wanted()) == [(ErrorCode.SECURITY_DISABLED, [])]
