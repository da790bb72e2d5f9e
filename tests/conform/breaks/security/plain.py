"""Breaks of `security/plain`."""

from breaking import Break, changes, gives_error, keeps_open, sets
from kwire.conform.checks.security.sasl import NOBODY
from kwire.conform.vocabulary import ConformanceVerdict
from kwire.messages.a36_sasl_authenticate import SaslAuthenticateRequest

BREAKS: dict[int, Break] = {
    **{number: gives_error(SaslAuthenticateRequest, 0) for number in (1, 5, 6, 7, 8, 9, 10)},
    2: changes(SaslAuthenticateRequest, sets("error_message", "")),
    3: keeps_open(),
    4: changes(
        SaslAuthenticateRequest,
        sets("error_message", "there is no such user"),
        only_for=lambda seen: NOBODY.encode() in seen.frame,
        verdict=ConformanceVerdict.DIFFERS,
    ),
}
