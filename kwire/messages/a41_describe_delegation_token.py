"""DescribeDelegationToken, API key 41."""

from __future__ import annotations

from kwire.codec.declaration import Group, Request, Response
from kwire.codec.notation import array, binary, int16, int32, int64, nullable, since, string


class DescribeDelegationTokenOwner(Group):
    principal_type: str = string
    principal_name: str = string


class DescribeDelegationTokenRequest(
    Request, key=41, versions="0-3", flexible="2+", listeners="broker controller"
):
    """A principal lists the delegation tokens it may see (KIP-48)."""

    owners: list[DescribeDelegationTokenOwner] | None = nullable(
        array(DescribeDelegationTokenOwner)
    )


class DescribedDelegationTokenRenewer(Group):
    principal_type: str = string
    principal_name: str = string


class DescribedDelegationToken(Group):
    principal_type: str = string
    principal_name: str = string
    token_requester_principal_type: str = since(3, string)
    token_requester_principal_name: str = since(3, string)
    issue_timestamp: int = int64
    expiry_timestamp: int = int64
    max_timestamp: int = int64
    token_id: str = string
    hmac: bytes = binary
    renewers: list[DescribedDelegationTokenRenewer] = array(DescribedDelegationTokenRenewer)


class DescribeDelegationTokenResponse(Response, key=41, versions="0-3", flexible="2+"):
    """A node gives the tokens with owners, renewers and lifetimes (KIP-48)."""

    error_code: int = int16
    tokens: list[DescribedDelegationToken] = array(DescribedDelegationToken)
    throttle_time_ms: int = int32
