"""Breaks of `admin/quotas`."""

from breaking import Break, changes, gives_error, repairs, sets
from kwire.messages.a48_describe_client_quotas import DescribeClientQuotasRequest
from kwire.messages.a49_alter_client_quotas import AlterClientQuotasRequest

_ALTER = AlterClientQuotasRequest

BREAKS: dict[int, Break] = {
    **dict.fromkeys(range(2, 8), gives_error(DescribeClientQuotasRequest, 0)),
    8: gives_error(DescribeClientQuotasRequest, 3),
    **dict.fromkeys(range(9, 16), gives_error(_ALTER, 0)),
    16: gives_error(_ALTER, 3),
    17: changes(_ALTER, sets("entries[*].error_code", 42)),
    18: gives_error(_ALTER, 42),
    19: repairs(_ALTER, sets("validate_only", False)),
}
