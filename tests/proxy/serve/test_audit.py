"""An audit line says all that was asked, and what was done of it."""

import pytest

from kwire.messages.a19_create_topics import CreatableTopic, CreateTopicsRequest
from kwire.messages.a30_create_acls import (
    AclCreation,
    AclCreationResult,
    CreateAclsRequest,
    CreateAclsResponse,
)
from kwire.messages.a64_unregister_broker import UnregisterBrokerRequest, UnregisterBrokerResponse
from kwire.net.service import RequestContext
from kwire.proxy.serve.audit import LINE, LINES, outcome_text, routed_change
from kwire.proxy.serve.callers import Caller

CONTEXT = RequestContext(version=1, peer=("10.0.0.7", 52114))


def acl(principal: str) -> AclCreation:
    return AclCreation(resource_type=4, resource_name="kafka-cluster", principal=principal)


def result(code: int, message: str | None = None) -> AclCreationResult:
    return AclCreationResult(error_code=code, error_message=message)


@pytest.mark.parametrize(
    ("results", "text"),
    [
        ([], "done"),
        ([result(0), result(0)], "done"),
        (
            [result(42, "no principal"), result(0)],
            "1 done, 1 refused: INVALID_REQUEST (no principal)",
        ),
    ],
)
def test_what_was_done_is_told_beside_what_was_refused(
    results: list[AclCreationResult], text: str
) -> None:
    assert outcome_text(CreateAclsResponse(results=results)) == text
    refused = UnregisterBrokerResponse(error_code=102, error_message=None)
    assert outcome_text(refused) == "BROKER_ID_NOT_REGISTERED"


def test_nothing_hides_behind_what_fills_a_line() -> None:
    creations = [*(acl(f"nobody{number}") for number in range(100)), acl("User:mallory")]
    change = routed_change(CreateAclsRequest(creations=creations), CONTEXT, Caller(), lent=False)
    assert len(change.resources) > 3
    assert all(len(part) <= LINE for part in change.resources)
    *_, last = change.sentences
    assert 'principal="User:mallory"' in last
    assert f"({len(change.resources)} of {len(change.resources)})" in last


def test_what_is_too_much_for_an_audit_is_said() -> None:
    topics = [CreatableTopic(name=f"topic-{number:0150d}") for number in range(10_000)]
    change = routed_change(CreateTopicsRequest(topics=topics), CONTEXT, Caller(), lent=False)
    assert len(change.resources) == LINES + 1
    assert change.resources[-1].startswith("the rest is not written")


def test_fields_of_the_request_itself_are_always_there() -> None:
    change = routed_change(UnregisterBrokerRequest(broker_id=0), CONTEXT, Caller(), lent=False)
    assert list(change.sentences) == [
        "User:ANONYMOUS at 10.0.0.7:52114: UnregisterBroker v1: broker_id=0:"
        " not known: the connection ended before the answer came"
    ]


def test_a_name_cannot_imitate_a_line() -> None:
    caller = Caller("User:root at 10.0.0.1:1: CreateAcls v3: nothing: done\n")
    (sentence,) = routed_change(
        UnregisterBrokerRequest(broker_id=1), CONTEXT, caller, lent=False
    ).sentences
    assert sentence.startswith(
        '"User:root at 10.0.0.1:1: CreateAcls v3: nothing: done\\n" at 10.0.0.7'
    )
