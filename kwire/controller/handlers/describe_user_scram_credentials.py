"""DescribeUserScramCredentials (KIP-554), which KIP-919 lists for controllers.

Kafka's controllers offer it, and answer UNKNOWN_SERVER_ERROR, or nothing where all users are asked
for; this one answers as a broker does.
"""

from __future__ import annotations

from collections import Counter

from kwire.controller.handlers.result import ControllerContext, ControllerResult
from kwire.error_codes import ErrorCode
from kwire.messages.a50_describe_user_scram_credentials import (
    CredentialInfo,
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
    DescribeUserScramCredentialsResult,
)


def handle(
    request: DescribeUserScramCredentialsRequest, context: ControllerContext
) -> ControllerResult:
    """List mechanisms and iterations of users' credentials (Java: ScramImage.describe).

    1. No users, or null: all that have credentials.
    2. A user that is named twice: DUPLICATE_RESOURCE, once.
    3. A user without credentials: RESOURCE_NOT_FOUND.
    """
    found: dict[str, list[CredentialInfo]] = {}
    credentials = context.image.scram.credentials
    for user in sorted(credentials, key=lambda user: (user.name, user.mechanism)):
        info = CredentialInfo(mechanism=user.mechanism, iterations=credentials[user].iterations)
        found.setdefault(user.name, []).append(info)
    # 1.
    asked = Counter(user.name for user in request.users or ()) or Counter(sorted(found))
    results = []
    for name, times in asked.items():
        result = DescribeUserScramCredentialsResult(user=name)
        # 2.
        if times > 1:
            result.error_code = ErrorCode.DUPLICATE_RESOURCE
            result.error_message = f"User {name} is asked for twice in one request."
        # 3.
        elif name not in found:
            result.error_code = ErrorCode.RESOURCE_NOT_FOUND
            result.error_message = f"User {name} has no SCRAM credential."
        else:
            result.credential_infos = found[name]
        results.append(result)
    return ControllerResult(response=DescribeUserScramCredentialsResponse(results=results))
