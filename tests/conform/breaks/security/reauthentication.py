"""Breaks of `security/reauthentication`."""

from breaking import Break, closes_on, gives_error, keeps_open
from breaking.breaks import SeenRequest
from kwire.messages.a17_sasl_handshake import SaslHandshakeRequest
from kwire.messages.a36_sasl_authenticate import SaslAuthenticateRequest
from kwire.messages.a60_describe_cluster import DescribeClusterRequest


def _second(request: SeenRequest) -> bool:
    return request.number == 2


def _wrong(request: SeenRequest) -> bool:
    return b"no token" in request.frame


BREAKS: dict[int, Break] = {
    1: gives_error(SaslHandshakeRequest, 34, only_for=_second),
    2: closes_on(DescribeClusterRequest),
    4: keeps_open(),
    5: gives_error(SaslAuthenticateRequest, 0, only_for=_wrong),
}
