"""A controller with delegation tokens, and requests about them."""

from typing import Any

from kwire.controller.handlers.result import DelegationTokenConfig
from kwire.image.delegation_tokens import DelegationToken
from kwire.messages.a38_create_delegation_token import (
    CreatableRenewers,
    CreateDelegationTokenRequest,
    CreateDelegationTokenResponse,
)
from kwire.messages.a39_renew_delegation_token import RenewDelegationTokenRequest
from kwire.messages.a40_expire_delegation_token import ExpireDelegationTokenRequest
from tests.support.controller.handlers.lab import Lab

ALICE, BOB, CAROL = "User:alice", "User:bob", "User:carol"
SECRET = "a secret of the cluster"
MAX_LIFETIME, EXPIRY_TIME, CHECK_INTERVAL = 100_000, 20_000, 5_000
LARGEST = 2**63 - 1


def token_lab(**config: Any) -> Lab:
    """A lab whose listener has SASL, with tokens that live for 100 s, and 20 s without renewal."""
    tokens = DelegationTokenConfig(
        secret=SECRET,
        max_lifetime_ms=MAX_LIFETIME,
        expiry_time_ms=EXPIRY_TIME,
        expiry_check_interval_ms=CHECK_INTERVAL,
    )
    settings: dict[str, Any] = {
        "delegation_tokens": tokens,
        "security_protocols": {"CONTROLLER": "SASL_PLAINTEXT"},
    } | config
    return Lab(**settings)


def creation(*renewers: str, **changes: Any) -> CreateDelegationTokenRequest:
    """A token of the sender's own. renewers: such as `User:bob`."""
    pairs = [renewer.split(":") for renewer in renewers]
    request = CreateDelegationTokenRequest(
        owner_principal_type=None,
        owner_principal_name=None,
        renewers=[
            CreatableRenewers(principal_type=type, principal_name=name) for type, name in pairs
        ],
        max_lifetime_ms=-1,
    )
    return request.replace(**changes)


def create(lab: Lab, *renewers: str, principal: str = ALICE) -> CreateDelegationTokenResponse:
    """Create a token that must be granted."""
    response: CreateDelegationTokenResponse = lab.ask(creation(*renewers), principal=principal)
    assert response.error_code == 0
    return response


def renewal(hmac: bytes, period: int = -1) -> RenewDelegationTokenRequest:
    """A request to renew."""
    return RenewDelegationTokenRequest(hmac=hmac, renew_period_ms=period)


def expiry(hmac: bytes, period: int = -1) -> ExpireDelegationTokenRequest:
    """A request to expire; a negative period: now."""
    return ExpireDelegationTokenRequest(hmac=hmac, expiry_time_period_ms=period)


def stored(lab: Lab, id: str) -> DelegationToken:
    """The token in the image."""
    return lab.image.delegation_tokens.by_id[id]
