"""Breaks of `security/handshake`."""

from breaking import Break, answers_end, changes, closes_on, gives_error, keeps_open, sets
from breaking.breaks import SeenRequest
from kwire.conform.vocabulary import ConformanceVerdict
from kwire.messages.a17_sasl_handshake import SaslHandshakeRequest
from kwire.messages.a18_api_versions import ApiVersionsRequest
from kwire.messages.a60_describe_cluster import DescribeClusterRequest

_DIFFERS = ConformanceVerdict.DIFFERS


def _bare_token(request: SeenRequest) -> bool:
    apis = (SaslHandshakeRequest, ApiVersionsRequest, DescribeClusterRequest)
    return request.key not in {api.key for api in apis}


BREAKS: dict[int, Break] = {
    1: closes_on(ApiVersionsRequest),
    2: closes_on(SaslHandshakeRequest),
    3: gives_error(SaslHandshakeRequest, 33),
    4: changes(SaslHandshakeRequest, sets("mechanisms", ("OTHER",))),
    5: gives_error(SaslHandshakeRequest, 0),
    6: changes(SaslHandshakeRequest, sets("mechanisms", ())),
    7: keeps_open(),
    8: gives_error(SaslHandshakeRequest, 0, only_for=lambda request: request.number == 2),
    11: keeps_open(verdict=_DIFFERS),
    12: closes_on(None, only_for=_bare_token),
    13: answers_end(),
}
