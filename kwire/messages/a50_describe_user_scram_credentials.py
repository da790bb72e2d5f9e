"""DescribeUserScramCredentials, API key 50."""

from __future__ import annotations

from kwire.codec.declaration import Group, Request, Response
from kwire.codec.notation import array, int8, int16, int32, nullable, string


class UserName(Group):
    name: str = string


class DescribeUserScramCredentialsRequest(
    Request, key=50, versions="0", flexible="0+", listeners="broker controller"
):
    """An admin asks which SCRAM mechanisms users have credentials for (KIP-554)."""

    users: list[UserName] | None = nullable(array(UserName))


class CredentialInfo(Group):
    mechanism: int = int8
    iterations: int = int32


class DescribeUserScramCredentialsResult(Group):
    user: str = string
    error_code: int = int16
    error_message: str | None = nullable(string)
    credential_infos: list[CredentialInfo] = array(CredentialInfo)


class DescribeUserScramCredentialsResponse(Response, key=50, versions="0", flexible="0+"):
    """A node gives mechanism and iterations per user, never a secret (KIP-554)."""

    throttle_time_ms: int = int32
    error_code: int = int16
    error_message: str | None = nullable(string)
    results: list[DescribeUserScramCredentialsResult] = array(DescribeUserScramCredentialsResult)
