"""DescribeUserScramCredentials (KIP-554; Java: ScramImage.describe)."""

from __future__ import annotations

from collections import Counter

from kwire.error_codes import ErrorCode
from kwire.image.metadata import MetadataImage
from kwire.messages.a50_describe_user_scram_credentials import (
    CredentialInfo,
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
    DescribeUserScramCredentialsResult,
)


def answer(
    request: DescribeUserScramCredentialsRequest, image: MetadataImage
) -> DescribeUserScramCredentialsResponse:
    """Answer from the credentials of an image.

    1. No users in the request, null or empty: every user that has a credential.
    2. A user named twice: DUPLICATE_RESOURCE. A user without credential: RESOURCE_NOT_FOUND.
    """
    infos: dict[str, list[CredentialInfo]] = {}
    for user, credential in sorted(image.scram.credentials.items(), key=lambda item: item[0][::-1]):
        info = CredentialInfo(mechanism=user.mechanism, iterations=credential.iterations)
        infos.setdefault(user.name, []).append(info)
    # 1.
    asked = Counter(user.name for user in request.users or ())
    return DescribeUserScramCredentialsResponse(
        error_message=None,
        results=[_result(name, asked[name], infos.get(name, [])) for name in asked or infos],
    )


def _result(
    name: str, times: int, infos: list[CredentialInfo]
) -> DescribeUserScramCredentialsResult:
    result = DescribeUserScramCredentialsResult(user=name, error_message=None)
    # 2.
    if times > 1:
        result.error_code = ErrorCode.DUPLICATE_RESOURCE
        result.error_message = f"User {name} is named {times} times."
    elif not infos:
        result.error_code = ErrorCode.RESOURCE_NOT_FOUND
        result.error_message = f"User {name} has no SCRAM credential."
    else:
        result.credential_infos = infos
    return result
