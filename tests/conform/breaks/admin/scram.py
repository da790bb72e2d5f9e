"""Breaks of `admin/scram`."""

from breaking import Break, changes, gives_error, sets
from kwire.messages.a50_describe_user_scram_credentials import DescribeUserScramCredentialsRequest
from kwire.messages.a51_alter_user_scram_credentials import AlterUserScramCredentialsRequest

_DESCRIBE = DescribeUserScramCredentialsRequest

BREAKS: dict[int, Break] = {
    2: gives_error(_DESCRIBE, 0),
    **dict.fromkeys(range(4, 10), gives_error(AlterUserScramCredentialsRequest, 0)),
    11: changes(_DESCRIBE, sets("results", []), only_for=lambda seen: seen.body.users is None),
}
