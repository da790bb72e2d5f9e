"""Breaks of `security/plaintext`."""

from breaking import Break, gives_error
from kwire.messages.a17_sasl_handshake import SaslHandshakeRequest
from kwire.messages.a36_sasl_authenticate import SaslAuthenticateRequest

BREAKS: dict[int, Break] = {
    1: gives_error(SaslHandshakeRequest, 0),
    2: gives_error(SaslAuthenticateRequest, 0),
}
