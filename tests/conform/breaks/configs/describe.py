"""Breaks of `configs/describe`."""

from breaking import Break, changes, gives_error, repairs, sets
from kwire.conform.vocabulary import ConformanceVerdict
from kwire.messages.a32_describe_configs import DescribeConfigsRequest

_API = DescribeConfigsRequest
_CONFIGS = "results[0].configs"

BREAKS: dict[int, Break] = {
    **dict.fromkeys((2, 3, 4, 5, 6), gives_error(_API, 0)),
    7: changes(_API, sets(_CONFIGS, lambda configs: configs[:1])),
    8: repairs(_API, sets("resources[0].configuration_keys", None)),
    9: repairs(_API, sets("resources[0].configuration_keys", None)),
    10: changes(_API, sets(f"{_CONFIGS}[*].config_source", 5)),
    11: changes(_API, sets(f"{_CONFIGS}[*].synonyms", [])),
    12: repairs(_API, sets("include_synonyms", True), verdict=ConformanceVerdict.DIFFERS),
    13: repairs(_API, sets("include_documentation", True)),
    14: changes(_API, sets(f"{_CONFIGS}[*].is_sensitive", True)),
    15: changes(
        _API, sets("results[*].error_code", 3), only_for=lambda request: request.number > 1
    ),
    16: changes(_API, sets(f"{_CONFIGS}[*].read_only", True)),
    17: changes(_API, sets(f"{_CONFIGS}[*].config_type", 2)),
}
