"""CreateAcls, after Kafka's AclControlManagerTest."""

from typing import Any

import pytest

from kwire.controller.handlers.limits import MAX_RECORDS
from kwire.error_codes import ErrorCode
from kwire.messages.a30_create_acls import AclCreation, CreateAclsRequest
from kwire.messages.access_control import (
    AclOperation,
    AclPermission,
    AclResourceType,
    PatternType,
)
from kwire.messages.records.access_control_entry import AccessControlEntryRecord
from tests.support.controller.handlers.acl_requests import creation, guarded, on_cluster
from tests.support.controller.handlers.lab import Lab

READ = AclOperation.READ


def create(lab: Lab, *creations: AclCreation) -> list[int]:
    """Return the codes; the message of a success is empty, as by Kafka, and not null."""
    response = lab.ask(CreateAclsRequest(creations=list(creations)))
    assert all(result.error_code or result.error_message == "" for result in response.results)
    return [result.error_code for result in response.results]


def test_an_acl_is_written_once() -> None:
    lab = guarded()
    before = len(lab.log)

    assert create(lab, creation(READ), creation(READ)) == [0, 0]
    assert create(lab, creation(READ)) == [0]

    records = [written.record for written in lab.log[before:]]
    assert len(records) == 1
    assert isinstance(records[0], AccessControlEntryRecord)
    (acl,) = lab.image.acls.by_id.values()
    assert (acl.resource_name, acl.operation, acl.host) == ("foo", READ, "*")


@pytest.mark.parametrize(
    "changes",
    [
        {"resource_name": ""},
        {"resource_type": AclResourceType.CLUSTER},
        {"resource_type": 99},
        {"resource_pattern_type": 99},
        {"operation": 99},
        {"permission_type": 99},
        {"principal": "alice"},
        {"host": ""},
    ],
    ids=str,
)
def test_what_is_wrong_with_an_acl_is_refused_and_the_others_are_written(
    changes: dict[str, Any],
) -> None:
    lab = guarded()

    codes = create(lab, creation(READ).replace(**changes), creation(READ, "bar"))

    assert codes == [ErrorCode.INVALID_REQUEST, 0]
    assert [acl.resource_name for acl in lab.image.acls.by_id.values()] == ["bar"]


@pytest.mark.parametrize(
    "changes",
    [
        {"resource_type": AclResourceType.ANY},
        {"resource_pattern_type": PatternType.MATCH},
        {"resource_pattern_type": PatternType.ANY},
        {"operation": AclOperation.ANY},
        {"permission_type": AclPermission.ANY},
    ],
    ids=str,
)
def test_what_only_filters_have_is_an_error_of_the_whole_request(changes: dict[str, Any]) -> None:
    lab = guarded()

    codes = create(lab, creation(READ), creation(READ).replace(**changes))

    assert codes == [ErrorCode.UNKNOWN_SERVER_ERROR] * 2
    assert not lab.image.acls.by_id


def test_ranges_of_addresses_need_a_metadata_version() -> None:
    hosts = ["10.0.0.0/8", "fd00::/8", "10.0.0.0/33", "10.0.0/8", "fd00::/129", "a/8"]
    creations = [creation(READ, host=host) for host in hosts]

    before, since = (guarded(brokers=(), level=level) for level in (31, 32))

    assert create(before, *creations) == [ErrorCode.UNSUPPORTED_VERSION] * 6
    assert create(since, *creations) == [0, 0] + [ErrorCode.INVALID_REQUEST] * 4


def test_more_acls_than_a_batch_holds_are_refused_together() -> None:
    lab = guarded()

    codes = create(lab, *(creation(READ, f"t{number}") for number in range(MAX_RECORDS + 1)))

    assert set(codes) == {ErrorCode.POLICY_VIOLATION}
    assert not lab.image.acls.by_id


def test_without_an_authorizer_there_are_no_acls(lab: Lab) -> None:
    assert create(lab, on_cluster(READ)) == [ErrorCode.SECURITY_DISABLED]

    lab.controller.resign()
    assert create(lab, on_cluster(READ)) == [ErrorCode.SECURITY_DISABLED]
