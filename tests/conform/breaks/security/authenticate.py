"""Breaks of `security/authenticate`."""

from breaking import Break, answers_end, changes, closes_on, gives_error, sets
from kwire.messages.a36_sasl_authenticate import SaslAuthenticateRequest
from kwire.messages.a60_describe_cluster import DescribeClusterRequest

BREAKS: dict[int, Break] = {
    1: gives_error(DescribeClusterRequest, 31),
    2: changes(SaslAuthenticateRequest, sets("session_lifetime_ms", -1000)),
    3: answers_end(),
    4: gives_error(SaslAuthenticateRequest, 0, only_for=lambda seen: b"\0password" in seen.frame),
    5: closes_on(DescribeClusterRequest),
    6: gives_error(SaslAuthenticateRequest, 0),
}
