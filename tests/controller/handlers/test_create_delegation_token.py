"""CreateDelegationToken, after Kafka's DelegationTokenControlManager and ControllerApisTest."""

import hmac
from typing import Any

import pytest

from kwire.controller.authorization.standard_authorizer import StandardAuthorizer
from kwire.error_codes import ErrorCode
from kwire.messages.a38_create_delegation_token import (
    CreatableRenewers,
    CreateDelegationTokenRequest,
)
from kwire.messages.access_control import AclOperation, AclResourceType
from kwire.net.service import ANONYMOUS
from kwire.text.ids import parse_uuid, uuid_text
from tests.support.controller.handlers.acl_requests import allow
from tests.support.controller.handlers.acl_requests import creation as acl
from tests.support.controller.handlers.delegation_tokens import (
    ALICE,
    BOB,
    EXPIRY_TIME,
    LARGEST,
    MAX_LIFETIME,
    SECRET,
    create,
    creation,
    stored,
    token_lab,
)

NOT_ALLOWED = ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED
AUTHORIZATION_FAILED = ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED


def for_bob(**changes: Any) -> CreateDelegationTokenRequest:
    return creation(owner_principal_type="User", owner_principal_name="bob", **changes)


def test_a_token_has_an_id_and_its_hmac() -> None:
    lab = token_lab()
    response = create(lab, "User:bob", "User:carol")
    assert uuid_text(parse_uuid(response.token_id)) == response.token_id
    assert response.hmac == hmac.digest(SECRET.encode(), response.token_id.encode(), "sha512")
    assert (response.principal_type, response.principal_name) == ("User", "alice")
    assert response.token_requester_principal_name == "alice"
    token = stored(lab, response.token_id)
    assert (token.owner, token.requester) == (ALICE, ALICE)
    assert token.renewers == ("User:bob", "User:carol")
    assert token.issue_timestamp == response.issue_timestamp_ms == lab.now
    assert token.max_timestamp == response.max_timestamp_ms == lab.now + MAX_LIFETIME
    assert token.expiration_timestamp == response.expiry_timestamp_ms == lab.now + EXPIRY_TIME


@pytest.mark.parametrize(
    ("requested", "lifetime", "expiry"),
    [
        (-1, MAX_LIFETIME, EXPIRY_TIME),
        (0, MAX_LIFETIME, EXPIRY_TIME),
        (1, 1, 1),
        (EXPIRY_TIME + 1, EXPIRY_TIME + 1, EXPIRY_TIME),
        (LARGEST, MAX_LIFETIME, EXPIRY_TIME),
    ],
)
def test_the_lifetime_is_at_most_the_configured_one(
    requested: int, lifetime: int, expiry: int
) -> None:
    lab = token_lab()
    response = lab.ask(creation(max_lifetime_ms=requested), principal=ALICE)
    assert response.max_timestamp_ms == lab.now + lifetime
    assert response.expiry_timestamp_ms == lab.now + expiry


@pytest.mark.parametrize(
    ("protocol", "principal", "forwarded", "by_token", "code"),
    [
        ("PLAINTEXT", ALICE, False, False, NOT_ALLOWED),
        ("PLAINTEXT", ANONYMOUS, True, False, 0),
        ("SSL", ANONYMOUS, False, False, NOT_ALLOWED),
        ("SSL", ANONYMOUS, True, False, 0),
        ("SSL", ALICE, False, False, 0),
        ("SASL_PLAINTEXT", ALICE, False, False, 0),
        ("SASL_SSL", ALICE, False, False, 0),
        ("SASL_SSL", ALICE, False, True, NOT_ALLOWED),
        ("SASL_SSL", ALICE, True, True, NOT_ALLOWED),
    ],
)
def test_who_may_ask_for_tokens(
    protocol: str, principal: str, forwarded: bool, by_token: bool, code: int
) -> None:
    lab = token_lab(security_protocols={"CONTROLLER": protocol})
    response = lab.ask(
        creation(), forwarded=forwarded, principal=principal, by_delegation_token=by_token
    )
    assert response.error_code == code
    times = response.issue_timestamp_ms, response.expiry_timestamp_ms, response.max_timestamp_ms
    assert (times == (-1, -1, -1)) is bool(code)
    assert bool(lab.image.delegation_tokens.by_id) is not bool(code)


def test_a_token_for_another_owner_needs_an_acl_on_that_user() -> None:
    lab = token_lab(authorizer=StandardAuthorizer(super_users=frozenset({ANONYMOUS})))
    refused = lab.ask(for_bob(), principal=ALICE)
    assert refused.error_code == AUTHORIZATION_FAILED
    assert (refused.principal_name, refused.token_requester_principal_name) == ("bob", "alice")
    assert lab.ask(creation(), principal=ALICE).error_code == 0
    allow(lab, acl(AclOperation.CREATE_TOKENS, BOB, resource_type=AclResourceType.USER))
    response = lab.ask(for_bob(), principal=ALICE)
    assert response.error_code == 0
    token = stored(lab, response.token_id)
    assert (token.owner, token.requester) == (BOB, ALICE)


def test_refusals_come_in_kafkas_order() -> None:
    lab = token_lab(authorizer=StandardAuthorizer())
    renewer = creation("Group:g").renewers
    wrong = for_bob(renewers=renewer)
    plaintext = token_lab(security_protocols={}, authorizer=StandardAuthorizer())
    assert plaintext.ask(wrong, principal=ALICE).error_code == NOT_ALLOWED
    assert lab.ask(wrong, principal=ALICE).error_code == AUTHORIZATION_FAILED
    own = creation("User:bob", "Group:g")
    without = token_lab(level=13, delegation_tokens=type(lab.controller.config.delegation_tokens)())
    disabled = without.ask(own, principal=ALICE)
    assert disabled.error_code == ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED
    assert (disabled.issue_timestamp_ms, disabled.max_timestamp_ms) == (0, 0)
    old = token_lab(level=13).ask(own, principal=ALICE)
    assert old.error_code == ErrorCode.UNSUPPORTED_VERSION
    assert token_lab(level=14).ask(creation(), principal=ALICE).error_code == 0
    response = lab.ask(own, principal=ALICE)
    assert response.error_code == ErrorCode.INVALID_PRINCIPAL_TYPE
    assert not lab.image.delegation_tokens.by_id


def test_versions_before_3_do_not_name_the_requester() -> None:
    response = token_lab().ask(creation(), 2, principal=ALICE)
    assert (response.error_code, response.principal_name) == (0, "alice")
    assert response.token_requester_principal_name == ""


def test_an_owner_without_a_type_is_kafkas_unknown_error() -> None:
    request = for_bob().replace(owner_principal_type=None)
    response = token_lab().ask(request, principal=ALICE)
    assert response.error_code == ErrorCode.UNKNOWN_SERVER_ERROR
    assert (response.principal_type, response.principal_name) == ("User", "ANONYMOUS")
    assert response.max_timestamp_ms == -1


def test_the_secret_has_no_repr() -> None:
    assert SECRET not in repr(token_lab().controller.config)


@pytest.mark.parametrize(
    "changes",
    [
        {"owner_principal_type": "User", "owner_principal_name": "x" * 32_763},
        {"renewers": [CreatableRenewers(principal_type="User", principal_name="é" * 16_382)]},
    ],
    ids=["owner", "renewer"],
)
def test_a_principal_that_no_record_holds_is_refused(changes: dict[str, Any]) -> None:
    lab = token_lab()
    assert lab.ask(creation(**changes)).error_code == ErrorCode.INVALID_REQUEST
    assert not lab.image.delegation_tokens.by_id
