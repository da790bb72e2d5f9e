"""RenewDelegationToken, after Kafka's DelegationTokenControlManager."""

from typing import Any

import pytest

from kwire.controller.handlers.result import DelegationTokenConfig
from kwire.error_codes import ErrorCode
from tests.support.controller.handlers.delegation_tokens import (
    ALICE,
    BOB,
    CAROL,
    EXPIRY_TIME,
    LARGEST,
    MAX_LIFETIME,
    create,
    renewal,
    stored,
    token_lab,
)


@pytest.mark.parametrize(
    ("period", "after", "expiry"),
    [
        (-1, 10, 10 + EXPIRY_TIME),
        (0, 10, 10 + EXPIRY_TIME),
        (7, 10, 17),
        (LARGEST, 10, 10 + EXPIRY_TIME),
    ],
)
def test_a_token_is_renewed_by_at_most_the_configured_time(
    period: int, after: int, expiry: int
) -> None:
    lab = token_lab()
    issued = lab.now
    token = create(lab, BOB)
    lab.now += after
    response = lab.ask(renewal(token.hmac, period), principal=BOB)
    assert (response.error_code, response.expiry_timestamp_ms) == (0, issued + expiry)
    renewed = stored(lab, token.token_id)
    assert renewed.expiration_timestamp == issued + expiry
    assert (renewed.issue_timestamp, renewed.max_timestamp) == (issued, issued + MAX_LIFETIME)
    assert (renewed.owner, renewed.renewers) == (ALICE, (BOB,))


def test_a_token_is_never_renewed_beyond_its_maximum() -> None:
    lab = token_lab()
    issued = lab.now
    token = create(lab)
    while lab.now + EXPIRY_TIME < issued + MAX_LIFETIME:
        lab.now += EXPIRY_TIME
        response = lab.ask(renewal(token.hmac), principal=ALICE)
    assert response.expiry_timestamp_ms == issued + MAX_LIFETIME
    lab.now = issued + MAX_LIFETIME
    assert lab.ask(renewal(token.hmac), principal=ALICE).error_code == 0
    lab.now += 1
    expired = lab.ask(renewal(token.hmac), principal=ALICE)
    assert (expired.error_code, expired.expiry_timestamp_ms) == (
        ErrorCode.DELEGATION_TOKEN_EXPIRED,
        0,
    )


def test_refusals_come_in_kafkas_order() -> None:
    lab = token_lab()
    token = create(lab, BOB)

    def code(hmac: bytes, principal: str = ALICE, **sender: Any) -> int:
        found: int = lab.ask(renewal(hmac), principal=principal, **sender).error_code
        return found

    by_token = lab.ask(renewal(b""), principal=ALICE, by_delegation_token=True)
    assert by_token.error_code == ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED
    assert by_token.expiry_timestamp_ms == -1
    for unknown in (b"", token.hmac[:-1], bytes(64)):
        assert code(unknown, CAROL) == ErrorCode.DELEGATION_TOKEN_NOT_FOUND
    assert code(token.hmac, CAROL) == ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH
    lab.now += EXPIRY_TIME + 1
    assert code(token.hmac, CAROL) == ErrorCode.DELEGATION_TOKEN_EXPIRED
    without = token_lab(level=13, delegation_tokens=DelegationTokenConfig())
    disabled = ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED
    assert without.ask(renewal(b""), principal=ALICE).error_code == disabled
    old = token_lab(level=13).ask(renewal(b""), principal=ALICE)
    assert old.error_code == ErrorCode.UNSUPPORTED_VERSION
