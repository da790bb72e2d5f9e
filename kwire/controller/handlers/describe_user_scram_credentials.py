"""DescribeUserScramCredentials (KIP-554), which KIP-919 lists for controllers.

Kafka's controllers offer it, and answer UNKNOWN_SERVER_ERROR, or nothing where all users are asked
for; this one answers as a broker does.
"""

from __future__ import annotations

from kwire.controller.handlers.result import ControllerContext, ControllerResult
from kwire.image.answers.describe_user_scram_credentials import answer
from kwire.messages.a50_describe_user_scram_credentials import DescribeUserScramCredentialsRequest


def handle(
    request: DescribeUserScramCredentialsRequest, context: ControllerContext
) -> ControllerResult:
    """List mechanisms and iterations of users' credentials, each user with an error of its own."""
    return ControllerResult(response=answer(request, context.image))
