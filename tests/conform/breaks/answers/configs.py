"""Breaks of `answers/configs`."""

from breaking import Break, changes, repairs, sets
from kwire.messages.a32_describe_configs import DescribeConfigsRequest
from kwire.messages.a33_alter_configs import AlterConfigsRequest
from kwire.messages.a44_incremental_alter_configs import IncrementalAlterConfigsRequest
from kwire.messages.a74_list_config_resources import ListConfigResourcesRequest

_WITH_TYPES = 3
"""The first version of DescribeConfigs with the types of values."""

BREAKS: dict[int, Break] = {
    1: changes(
        DescribeConfigsRequest,
        sets("results[*].configs[*].config_type", 3),
        only_for=lambda request: request.version >= _WITH_TYPES,
    ),
    2: changes(AlterConfigsRequest, sets("responses[1].resource_name", "another"), only_for=1),
    3: changes(IncrementalAlterConfigsRequest, sets("responses[0].resource_type", 4), only_for=0),
    4: changes(ListConfigResourcesRequest, sets("config_resources[0].resource_type", 2)),
    5: repairs(AlterConfigsRequest, sets("validate_only", False)),
    6: changes(
        DescribeConfigsRequest, sets("results[0].configs[0].is_sensitive", False), only_for=1
    ),
}
