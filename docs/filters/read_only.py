"""Refuse every change, as a policy of the cluster would."""

from kwire.codec.declaration import Request
from kwire.messages.error_response import visible_error_response
from kwire.proxy import Answer, Call, Filter

POLICY_VIOLATION = 44


class ReadOnly(Filter):
    apis = frozenset(
        {"CreateTopics", "DeleteTopics", "CreatePartitions", "IncrementalAlterConfigs"}
    )

    def on_request(self, request: Request, call: Call) -> Answer | None:
        refusal = visible_error_response(request, call.version, POLICY_VIOLATION)
        return None if refusal is None else Answer(refusal)
