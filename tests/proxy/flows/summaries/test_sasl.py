"""Authentication in a line, without its secrets."""

from kwire.codec.declaration import Request, Response
from kwire.messages.a17_sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse
from kwire.messages.a36_sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from kwire.proxy import summarize
from tests.support.proxy.flows.decoded_flows import flow

TOKEN = SaslAuthenticateRequest(auth_bytes=b"\0alice\0hunter2")


def said(request: Request, response: Response | None, version: int) -> str:
    return summarize(flow(request, response, version))


def test_a_handshake_names_the_mechanism() -> None:
    plain, scram = SaslHandshakeRequest(mechanism="PLAIN"), SaslHandshakeRequest(mechanism="SCRAM")
    assert said(plain, SaslHandshakeResponse(mechanisms=("PLAIN",)), 1) == "PLAIN"
    assert said(plain, SaslHandshakeResponse(), 0) == "PLAIN, bare tokens follow"
    refused = SaslHandshakeResponse(error_code=33, mechanisms=("PLAIN", "GSSAPI"))
    assert said(scram, refused, 1) == "SCRAM: UNSUPPORTED_SASL_MECHANISM, there are PLAIN GSSAPI"
    assert said(plain, None, 1) == "PLAIN: no response"


def test_a_token_is_as_long_as_it_is() -> None:
    answer = SaslAuthenticateResponse(auth_bytes=b"v=x", session_lifetime_ms=90_000)
    assert said(TOKEN, answer, 2) == "token of 14 B → 3 B, for 90 s"
    assert said(TOKEN, SaslAuthenticateResponse(), 2) == "token of 14 B → 0 B"
    refused = SaslAuthenticateResponse(error_code=58, error_message="no such user")
    assert said(TOKEN, refused, 2) == "token of 14 B: SASL_AUTHENTICATION_FAILED (no such user)"
