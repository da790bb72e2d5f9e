"""DescribeClientQuotas (KIP-546), which KIP-919 lists for controllers.

Kafka's controllers do not offer it; this one answers as a broker does.
"""

from __future__ import annotations

from kwire.controller.handlers.result import ControllerContext, ControllerResult
from kwire.image.answers.describe_client_quotas import answer
from kwire.messages.a48_describe_client_quotas import DescribeClientQuotasRequest


def handle(request: DescribeClientQuotasRequest, context: ControllerContext) -> ControllerResult:
    """List the quotas that a filter matches, or refuse a filter that makes no sense."""
    return ControllerResult(response=answer(request, context.image))
