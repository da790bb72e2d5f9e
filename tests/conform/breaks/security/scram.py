"""Breaks of `security/scram`."""

from base64 import b64encode
from typing import Any

from breaking import Break, changes, closes_on, gives_error, sets, together
from breaking.breaks import SeenRequest
from kwire.conform.vocabulary import ConformanceVerdict
from kwire.messages.a18_api_versions import ApiVersionsRequest
from kwire.messages.a36_sasl_authenticate import SaslAuthenticateRequest


def _second(request: SeenRequest) -> bool:
    return request.number == 2


def _fewer(response: Any) -> None:
    response.auth_bytes = response.auth_bytes.replace(b"i=4096", b"i=1").replace(b"i=8192", b"i=1")


def _no_proof(response: Any) -> None:
    if response.auth_bytes.startswith(b"v="):
        response.auth_bytes = b"v=" + b64encode(bytes(64))


BREAKS: dict[int, Break] = {
    1: gives_error(SaslAuthenticateRequest, 0),
    2: gives_error(SaslAuthenticateRequest, 0),
    3: changes(SaslAuthenticateRequest, sets("auth_bytes", b"r=other,s=QQ==,i=4096")),
    4: changes(SaslAuthenticateRequest, sets("auth_bytes", b"r=kwireconform1,s=QQ==,i=4096")),
    5: changes(SaslAuthenticateRequest, _fewer),
    6: gives_error(SaslAuthenticateRequest, 0, only_for=_second),
    7: gives_error(SaslAuthenticateRequest, 0, only_for=_second),
    8: gives_error(SaslAuthenticateRequest, 0, only_for=_second),
    9: changes(SaslAuthenticateRequest, _no_proof),
    10: gives_error(SaslAuthenticateRequest, 0),
    # Apache Kafka takes the attribute: the relay refuses it, and ends the connection at the probe.
    11: together(
        gives_error(SaslAuthenticateRequest, 58, verdict=ConformanceVerdict.PASS),
        closes_on(ApiVersionsRequest),
    ),
}
