"""Breaks of `configs/incremental`."""

from breaking import Break, SeenRequest, changes, gives_error, repairs, sets, silent_on
from kwire.messages.a32_describe_configs import DescribeConfigsRequest
from kwire.messages.a33_alter_configs import AlterConfigsRequest
from kwire.messages.a44_incremental_alter_configs import IncrementalAlterConfigsRequest

_API = IncrementalAlterConfigsRequest
_NO_ERROR = changes(_API, sets("responses[*].error_code", 0))


def _of_retention(request: SeenRequest) -> bool:
    return "retention.ms" in request.body.resources[0].configuration_keys


BREAKS: dict[int, Break] = {
    **dict.fromkeys((2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 13), _NO_ERROR),
    11: silent_on(AlterConfigsRequest),
    14: gives_error(_API, 40),
    15: gives_error(_API, 40),
    16: changes(
        DescribeConfigsRequest, sets("results[0].configs[*].value", "1"), only_for=_of_retention
    ),
    17: changes(
        DescribeConfigsRequest,
        sets("results[0].configs[*].value", "86400000"),
        only_for=_of_retention,
    ),
    18: repairs(_API, sets("validate_only", False)),
    19: _NO_ERROR,
    20: changes(_API, sets("responses[*].error_code", 3)),
}
