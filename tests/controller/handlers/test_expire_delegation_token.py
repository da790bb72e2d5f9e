"""ExpireDelegationToken, after Kafka's DelegationTokenControlManager."""

import pytest

from kwire.controller.handlers.result import DelegationTokenConfig
from kwire.error_codes import ErrorCode
from kwire.messages.records.remove_delegation_token import RemoveDelegationTokenRecord
from tests.support.controller.handlers.delegation_tokens import (
    ALICE,
    BOB,
    CAROL,
    CHECK_INTERVAL,
    EXPIRY_TIME,
    LARGEST,
    MAX_LIFETIME,
    create,
    expiry,
    renewal,
    stored,
    token_lab,
)


@pytest.mark.parametrize(("period", "lifetime"), [(0, 0), (7, 7), (MAX_LIFETIME + 1, MAX_LIFETIME)])
def test_a_token_ends_after_the_period_but_not_after_its_maximum(
    period: int, lifetime: int
) -> None:
    lab = token_lab()
    token = create(lab, BOB)
    response = lab.ask(expiry(token.hmac, period), principal=BOB)
    assert (response.error_code, response.expiry_timestamp_ms) == (0, lab.now + lifetime)
    assert stored(lab, token.token_id).expiration_timestamp == lab.now + lifetime


def test_the_longest_period_does_not_overflow() -> None:
    lab = token_lab()
    token = create(lab)
    response = lab.ask(expiry(token.hmac, LARGEST), principal=ALICE)
    assert response.expiry_timestamp_ms == lab.now + MAX_LIFETIME


def test_a_negative_period_removes_the_token_even_if_it_has_ended() -> None:
    lab = token_lab()
    first, second = create(lab), create(lab)
    response = lab.ask(expiry(first.hmac), principal=ALICE)
    assert (response.error_code, response.expiry_timestamp_ms) == (0, lab.now)
    assert set(lab.image.delegation_tokens.by_id) == {second.token_id}
    not_found = lab.ask(expiry(first.hmac), principal=ALICE)
    assert not_found.error_code == ErrorCode.DELEGATION_TOKEN_NOT_FOUND
    lab.now += EXPIRY_TIME + 1
    expired = lab.ask(expiry(second.hmac, 0), principal=ALICE)
    assert expired.error_code == ErrorCode.DELEGATION_TOKEN_EXPIRED
    assert lab.ask(expiry(second.hmac), principal=ALICE).error_code == 0
    assert not lab.image.delegation_tokens.by_id


def test_refusals_come_in_kafkas_order() -> None:
    lab = token_lab()
    token = create(lab, BOB)
    by_token = lab.ask(expiry(b""), principal=ALICE, by_delegation_token=True)
    assert by_token.error_code == ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED
    assert by_token.expiry_timestamp_ms == -1
    lab.now += EXPIRY_TIME + 1
    # The owner is looked at before the time, other than in RenewDelegationToken.
    other = lab.ask(expiry(token.hmac, 0), principal=CAROL)
    assert other.error_code == ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH
    without = token_lab(level=13, delegation_tokens=DelegationTokenConfig())
    disabled = ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED
    assert without.ask(expiry(b""), principal=ALICE).error_code == disabled
    old = token_lab(level=13).ask(expiry(b""), principal=ALICE)
    assert old.error_code == ErrorCode.UNSUPPORTED_VERSION


def test_expired_tokens_are_removed_from_time_to_time() -> None:
    lab = token_lab()
    first, second, third = create(lab), create(lab), create(lab)
    lab.ask(expiry(first.hmac, CHECK_INTERVAL - 1), principal=ALICE)
    lab.ask(expiry(second.hmac, CHECK_INTERVAL), principal=ALICE)
    assert lab.tick(CHECK_INTERVAL - 1) == []
    removed = [written.record for written in lab.tick(1)]
    assert removed == [RemoveDelegationTokenRecord(token_id=first.token_id)]
    removed = [written.record for written in lab.tick(CHECK_INTERVAL)]
    assert removed == [RemoveDelegationTokenRecord(token_id=second.token_id)]
    assert lab.ask(renewal(third.hmac), principal=ALICE).error_code == 0


def test_a_controller_without_tokens_does_not_look_for_them() -> None:
    lab = token_lab(delegation_tokens=DelegationTokenConfig())
    assert lab.tick(10 * DelegationTokenConfig().expiry_check_interval_ms) == []
    deadline = lab.controller.deadline()
    assert deadline is not None
    assert deadline > lab.now
