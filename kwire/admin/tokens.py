"""Delegation tokens: create, renew, expire and describe them (KIP-48, KIP-373).

Nodes take these only from connections that are authenticated, by SASL or by a certificate, and not
by a token. The HMAC is the token's password: whoever has it acts as its owner.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kwire.admin import registry
from kwire.admin.driver import Driver
from kwire.admin.errors import refusal
from kwire.admin.operation import Operation, OperationCall
from kwire.error_codes import ErrorCode
from kwire.errors import InvalidValue, UnsupportedVersion
from kwire.messages import a38_create_delegation_token as created
from kwire.messages import a39_renew_delegation_token as renewed
from kwire.messages import a40_expire_delegation_token as expired
from kwire.messages import a41_describe_delegation_token as described

if TYPE_CHECKING:
    from kwire.image import MetadataImage

BY_NODE_DEFAULT = -1
"""A period that leaves the choice to the node (delegation.token.expiry.time.ms and its like)."""

NOW = -1
"""A period for expire_delegation_token: the token ends at once."""

_OWNER_SINCE = 3
"""The version of CreateDelegationToken from which on it takes an owner (KIP-373, Kafka 3.3)."""

_REASONS: dict[int, str] = {
    ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED: (
        "the nodes have no delegation.token.secret.key, without which there are no tokens"
    ),
    ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED: (
        "connect by SASL or with a client certificate, and not by a token"
    ),
}
"""Advice for codes that come without a message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DelegationTokenInfo:
    """A delegation token.

    hmac: the secret; None if it was read from the metadata log, which does not have it. owner,
    requester, renewers: principals as `User:alice`. requester: the one who had it created, None
    before Kafka 3.3. The timestamps are ms since 1970: of its making, of its end unless it is
    renewed, of its end in any case.
    """

    token_id: str
    hmac: bytes | None = field(repr=False)
    owner: str
    requester: str | None
    renewers: tuple[str, ...]
    issue_timestamp: int
    expiry_timestamp: int
    max_timestamp: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenCreation:
    """The arguments of create_delegation_token."""

    owner: tuple[str, str] | None
    renewers: tuple[tuple[str, str], ...]
    max_lifetime_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenPeriod:
    """The arguments of renew_delegation_token and expire_delegation_token."""

    hmac: bytes = field(repr=False)
    period_ms: int


def _create(call: OperationCall[None, TokenCreation]) -> created.CreateDelegationTokenRequest:
    owner = call.arguments.owner
    request = created.CreateDelegationTokenRequest(
        renewers=[
            created.CreatableRenewers(principal_type=type, principal_name=name)
            for type, name in call.arguments.renewers
        ],
        max_lifetime_ms=call.arguments.max_lifetime_ms,
    )
    if call.offers(created.CreateDelegationTokenRequest, _OWNER_SINCE):
        request.owner_principal_type, request.owner_principal_name = owner or (None, None)
    elif owner is not None:
        raise UnsupportedVersion(
            "the node makes tokens for their requester only: it is older than Kafka 3.3"
        )
    return request


def _created(
    response: created.CreateDelegationTokenResponse, call: OperationCall[None, TokenCreation]
) -> Iterator[tuple[None, DelegationTokenInfo]]:
    _raise(response.error_code)
    yield (
        None,
        DelegationTokenInfo(
            token_id=response.token_id,
            hmac=response.hmac,
            owner=_text(response.principal_type, response.principal_name),
            requester=_requester(response),
            renewers=tuple(_text(*renewer) for renewer in call.arguments.renewers),
            issue_timestamp=response.issue_timestamp_ms,
            expiry_timestamp=response.expiry_timestamp_ms,
            max_timestamp=response.max_timestamp_ms,
        ),
    )


def _renewed(
    response: renewed.RenewDelegationTokenResponse | expired.ExpireDelegationTokenResponse,
    call: OperationCall[None, TokenPeriod],
) -> Iterator[tuple[None, int]]:
    _raise(response.error_code)
    yield None, response.expiry_timestamp_ms


def _describe(
    call: OperationCall[None, tuple[tuple[str, str], ...] | None],
) -> described.DescribeDelegationTokenRequest:
    # An empty list asks for the tokens of nobody; null asks for all that the user may see.
    if call.arguments is None:
        return described.DescribeDelegationTokenRequest(owners=None)
    return described.DescribeDelegationTokenRequest(
        owners=[
            described.DescribeDelegationTokenOwner(principal_type=type, principal_name=name)
            for type, name in call.arguments
        ]
    )


def _described(
    response: described.DescribeDelegationTokenResponse,
    call: OperationCall[None, tuple[tuple[str, str], ...] | None],
) -> Iterator[tuple[None, tuple[DelegationTokenInfo, ...]]]:
    _raise(response.error_code)
    yield (
        None,
        tuple(
            DelegationTokenInfo(
                token_id=token.token_id,
                hmac=token.hmac,
                owner=_text(token.principal_type, token.principal_name),
                requester=_requester(token),
                renewers=tuple(
                    _text(renewer.principal_type, renewer.principal_name)
                    for renewer in token.renewers
                ),
                issue_timestamp=token.issue_timestamp,
                expiry_timestamp=token.expiry_timestamp,
                max_timestamp=token.max_timestamp,
            )
            for token in response.tokens
        ),
    )


def _observed(
    image: MetadataImage, keys: tuple[None, ...], owners: tuple[tuple[str, str], ...] | None
) -> Iterator[tuple[None, tuple[DelegationTokenInfo, ...]]]:
    asked = None if owners is None else {_text(*owner) for owner in owners}
    yield (
        None,
        tuple(
            DelegationTokenInfo(
                token_id=id,
                hmac=None,
                owner=token.owner,
                requester=token.requester or None,
                renewers=token.renewers,
                issue_timestamp=token.issue_timestamp,
                expiry_timestamp=token.expiration_timestamp,
                max_timestamp=token.max_timestamp,
            )
            for id, token in sorted(image.delegation_tokens.by_id.items())
            # Brokers count the requester and the renewers, too.
            if asked is None or not asked.isdisjoint(token.parties)
        ),
    )


def _raise(code: int) -> None:
    if error := refusal(code, _REASONS.get(code)):
        raise error


def _text(type: str, name: str) -> str:
    return f"{type}:{name}"


def _requester(
    token: created.CreateDelegationTokenResponse | described.DescribedDelegationToken,
) -> str | None:
    type, name = token.token_requester_principal_type, token.token_requester_principal_name
    return _text(type, name) if type else None


def _principal(text: str) -> tuple[str, str]:
    type, colon, name = text.partition(":")
    if not (type and colon and name):
        raise InvalidValue(f"{text!r} is no principal: write User:{text}")
    return type, name


CREATE_DELEGATION_TOKEN: Operation[None, TokenCreation, DelegationTokenInfo] = Operation(
    row=registry.CREATE_DELEGATION_TOKEN, build=_create, parse=_created
)
RENEW_DELEGATION_TOKEN: Operation[None, TokenPeriod, int] = Operation(
    row=registry.RENEW_DELEGATION_TOKEN,
    build=lambda call: renewed.RenewDelegationTokenRequest(
        hmac=call.arguments.hmac, renew_period_ms=call.arguments.period_ms
    ),
    parse=_renewed,
)
EXPIRE_DELEGATION_TOKEN: Operation[None, TokenPeriod, int] = Operation(
    row=registry.EXPIRE_DELEGATION_TOKEN,
    build=lambda call: expired.ExpireDelegationTokenRequest(
        hmac=call.arguments.hmac, expiry_time_period_ms=call.arguments.period_ms
    ),
    parse=_renewed,
)
DESCRIBE_DELEGATION_TOKEN: Operation[
    None, tuple[tuple[str, str], ...] | None, tuple[DelegationTokenInfo, ...]
] = Operation(
    row=registry.DESCRIBE_DELEGATION_TOKEN, build=_describe, parse=_described, observe=_observed
)


async def create_delegation_token(
    driver: Driver,
    *,
    owner: str | None = None,
    renewers: Iterable[str] = (),
    max_lifetime_ms: int = BY_NODE_DEFAULT,
    timeout: float | None = None,
) -> DelegationTokenInfo:
    """Have a token made, by default for the user of this client.

    owner, renewers: principals as `User:alice`; the owner may always renew.

    Raises OutcomeUnknown if the answer was lost: describe the tokens to see. BrokerError
    DELEGATION_TOKEN_AUTHORIZATION_FAILED (65), INVALID_PRINCIPAL_TYPE (67).
    """
    creation = TokenCreation(
        owner=None if owner is None else _principal(owner),
        renewers=tuple(map(_principal, renewers)),
        max_lifetime_ms=max_lifetime_ms,
    )
    return await driver.ask(CREATE_DELEGATION_TOKEN, None, creation, timeout=timeout)


async def renew_delegation_token(
    driver: Driver, hmac: bytes, *, period_ms: int = BY_NODE_DEFAULT, timeout: float | None = None
) -> int:
    """Prolong a token's life; return its new end in ms since 1970.

    Raises BrokerError DELEGATION_TOKEN_NOT_FOUND (62), DELEGATION_TOKEN_OWNER_MISMATCH (63),
    DELEGATION_TOKEN_EXPIRED (66).
    """
    arguments = TokenPeriod(hmac=hmac, period_ms=period_ms)
    return await driver.ask(RENEW_DELEGATION_TOKEN, None, arguments, timeout=timeout)


async def expire_delegation_token(
    driver: Driver, hmac: bytes, *, period_ms: int = NOW, timeout: float | None = None
) -> int:
    """End a token, now or so many ms from now; return its end in ms since 1970.

    Raises as renew_delegation_token; DELEGATION_TOKEN_NOT_FOUND after a lost answer means done.
    """
    arguments = TokenPeriod(hmac=hmac, period_ms=period_ms)
    return await driver.ask(EXPIRE_DELEGATION_TOKEN, None, arguments, timeout=timeout)


async def describe_delegation_token(
    driver: Driver, owners: Iterable[str] | None = None, *, timeout: float | None = None
) -> tuple[DelegationTokenInfo, ...]:
    """Return the tokens of these owners that the user may see, by default of all owners."""
    principals = None if owners is None else tuple(map(_principal, owners))
    return await driver.ask(DESCRIBE_DELEGATION_TOKEN, None, principals, timeout=timeout)
