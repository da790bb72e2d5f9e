"""DescribeDelegationToken, after Kafka's KafkaApis and DelegationTokenManager.

Brokers judge it in tests/controller/live/test_descriptions.py.
"""

import pytest

from kwire.controller.authorization.standard_authorizer import StandardAuthorizer
from kwire.controller.handlers.result import DelegationTokenConfig
from kwire.error_codes import ErrorCode
from kwire.messages.a41_describe_delegation_token import (
    DescribeDelegationTokenOwner,
    DescribeDelegationTokenRequest,
)
from kwire.messages.access_control import AclOperation, AclResourceType
from kwire.net.service import ANONYMOUS
from tests.support.controller.handlers.acl_requests import allow
from tests.support.controller.handlers.acl_requests import creation as acl
from tests.support.controller.handlers.delegation_tokens import (
    ALICE,
    BOB,
    CAROL,
    EXPIRY_TIME,
    MAX_LIFETIME,
    create,
    token_lab,
)
from tests.support.controller.handlers.lab import Lab

EVERYBODYS = DescribeDelegationTokenRequest(owners=None)


def of(*owners: str) -> DescribeDelegationTokenRequest:
    """Ask for the tokens of these principals."""
    pairs = [owner.split(":") for owner in owners]
    return DescribeDelegationTokenRequest(
        owners=[
            DescribeDelegationTokenOwner(principal_type=type, principal_name=name)
            for type, name in pairs
        ]
    )


def ids(lab: Lab, request: DescribeDelegationTokenRequest, principal: str = ALICE) -> list[str]:
    """Return the ids of the tokens that a principal sees."""
    response = lab.ask(request, principal=principal)
    assert response.error_code == 0
    return [token.token_id for token in response.tokens]


def guarded_tokens() -> Lab:
    return token_lab(authorizer=StandardAuthorizer(super_users=frozenset({ANONYMOUS})))


def test_a_token_is_described_with_its_hmac_and_times() -> None:
    lab = token_lab()
    made = create(lab, BOB)
    (token,) = lab.ask(EVERYBODYS, principal=ALICE).tokens
    assert (token.token_id, token.hmac) == (made.token_id, made.hmac)
    assert (token.principal_type, token.principal_name) == ("User", "alice")
    assert token.token_requester_principal_name == "alice"
    assert [(r.principal_type, r.principal_name) for r in token.renewers] == [("User", "bob")]
    assert token.issue_timestamp == lab.now
    assert token.max_timestamp == lab.now + MAX_LIFETIME
    assert token.expiry_timestamp == lab.now + EXPIRY_TIME


def test_an_owner_is_also_who_may_renew() -> None:
    lab = token_lab()
    alices, bobs = create(lab, BOB).token_id, create(lab, principal=BOB).token_id
    assert ids(lab, of(BOB), BOB) == sorted([alices, bobs])
    assert ids(lab, of(ALICE), BOB) == [alices]
    assert ids(lab, of(CAROL), BOB) == ids(lab, of(), BOB) == []


def test_others_tokens_are_seen_with_an_acl_on_the_token_or_its_owner() -> None:
    lab = guarded_tokens()
    bobs, carols = create(lab, principal=BOB).token_id, create(lab, principal=CAROL).token_id
    assert ids(lab, EVERYBODYS) == []
    types = AclResourceType
    allow(lab, acl(AclOperation.DESCRIBE, bobs, resource_type=types.DELEGATION_TOKEN))
    assert ids(lab, EVERYBODYS) == [bobs]
    allow(lab, acl(AclOperation.DESCRIBE_TOKENS, CAROL, resource_type=types.USER))
    assert ids(lab, EVERYBODYS) == sorted([bobs, carols])
    assert ids(lab, of(CAROL)) == [carols]


@pytest.mark.parametrize(("protocol", "by_token"), [("PLAINTEXT", False), ("SASL_SSL", True)])
def test_who_may_not_have_tokens_may_not_see_any(protocol: str, by_token: bool) -> None:
    lab = token_lab(security_protocols={"CONTROLLER": protocol})
    response = lab.ask(EVERYBODYS, principal=ALICE, by_delegation_token=by_token)
    assert response.error_code == ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED


def test_without_a_secret_there_are_no_tokens() -> None:
    lab = token_lab(delegation_tokens=DelegationTokenConfig())
    response = lab.ask(EVERYBODYS, principal=ALICE)
    assert response.error_code == ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED
