"""Breaks of `answers/access`."""

from breaking import Break, changes, gives_error, sets
from kwire.messages.a29_describe_acls import DescribeAclsRequest
from kwire.messages.a36_sasl_authenticate import SaslAuthenticateRequest
from kwire.messages.a39_renew_delegation_token import RenewDelegationTokenRequest

BREAKS: dict[int, Break] = {
    1: changes(DescribeAclsRequest, sets("resources[*].pattern_type", 3), only_for=1),
    2: changes(RenewDelegationTokenRequest, sets("expiry_timestamp_ms", 0)),
    3: gives_error(DescribeAclsRequest, 31),
    4: changes(SaslAuthenticateRequest, sets("session_lifetime_ms", 0), only_for=1),
}
