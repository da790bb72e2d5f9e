"""AlterUserScramCredentials, API key 51."""

from __future__ import annotations

from kwire.codec.declaration import Group, Request, Response
from kwire.codec.notation import array, binary, int8, int16, int32, nullable, string


class ScramCredentialDeletion(Group):
    name: str = string
    mechanism: int = int8


class ScramCredentialUpsertion(Group):
    name: str = string
    mechanism: int = int8
    iterations: int = int32
    salt: bytes = binary
    salted_password: bytes = binary


class AlterUserScramCredentialsRequest(
    Request, key=51, versions="0", flexible="0+", listeners="broker controller"
):
    """An admin stores or removes the SCRAM credentials of users (KIP-554)."""

    deletions: list[ScramCredentialDeletion] = array(ScramCredentialDeletion)
    upsertions: list[ScramCredentialUpsertion] = array(ScramCredentialUpsertion)


class AlterUserScramCredentialsResult(Group):
    user: str = string
    error_code: int = int16
    error_message: str | None = nullable(string)


class AlterUserScramCredentialsResponse(Response, key=51, versions="0", flexible="0+"):
    """The controller says whose SCRAM credentials it has changed (KIP-554)."""

    throttle_time_ms: int = int32
    results: list[AlterUserScramCredentialsResult] = array(AlterUserScramCredentialsResult)
