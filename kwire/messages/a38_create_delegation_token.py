"""CreateDelegationToken, API key 38."""

from __future__ import annotations

from kwire.codec.declaration import Group, Request, Response
from kwire.codec.notation import array, binary, int16, int32, int64, nullable, since, string


class CreatableRenewers(Group):
    principal_type: str = string
    principal_name: str = string


class CreateDelegationTokenRequest(
    Request, key=38, versions="0-3", flexible="2+", listeners="broker controller"
):
    """A principal has a delegation token issued, for itself or for another (KIP-48)."""

    owner_principal_type: str | None = since(3, nullable(string))
    owner_principal_name: str | None = since(3, nullable(string))
    renewers: list[CreatableRenewers] = array(CreatableRenewers)
    max_lifetime_ms: int = int64


class CreateDelegationTokenResponse(Response, key=38, versions="0-3", flexible="2+"):
    """The controller hands out the token's id, secret and lifetime (KIP-48)."""

    error_code: int = int16
    principal_type: str = string
    principal_name: str = string
    token_requester_principal_type: str = since(3, string)
    token_requester_principal_name: str = since(3, string)
    issue_timestamp_ms: int = int64
    expiry_timestamp_ms: int = int64
    max_timestamp_ms: int = int64
    token_id: str = string
    hmac: bytes = binary
    throttle_time_ms: int = int32
