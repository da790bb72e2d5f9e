"""The claims of a token for OAUTHBEARER, held against what a listener expects (RFC 7519, 4.1).

Java: ValidatorAccessTokenValidator, OAuthBearerUnsecuredValidatorCallbackHandler.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

MILLISECONDS = 1000
_LATEST = 10**12
"""Seconds; no token lives for longer than 30,000 years."""


class WrongToken(Exception):
    """A token is not accepted. The text is for the log, not for the client."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimRules:
    """Expected claims.

    audiences: one of them must be in `aud`; if empty, a token must not have an audience. issuer:
    None for any. clock_skew_ms: milliseconds by which clocks may differ. needs_issue_time: True if
    `iat` must be there. required_scopes: all of them must be granted.
    """

    audiences: frozenset[str] = frozenset()
    checks_audience: bool = True
    issuer: str | None = None
    clock_skew_ms: int = 0
    subject_claim: str = "sub"
    scope_claim: str = "scope"
    needs_issue_time: bool = True
    required_scopes: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """name: of the token's principal. expires_at: milliseconds since 1970."""

    name: str
    expires_at: int


def check_claims(claims: Mapping[str, Any], rules: ClaimRules, now: int) -> Subject:
    """Return the subject of a token. now: milliseconds since 1970. Raises WrongToken.

    1. `exp` is there, and not over; `nbf` has come; `iat` is a time before `exp`.
    2. `aud` has one of the expected audiences, `iss` is the expected issuer.
    3. The subject is a text that is not empty.
    4. The scopes are texts, each once, and those that are required are among them.
    """
    # 1.
    expires_at = _time(claims, "exp")
    if expires_at is None:
        raise WrongToken("it has no exp")
    if expires_at + rules.clock_skew_ms <= now:
        raise WrongToken("it is over")
    not_before, issued_at = _time(claims, "nbf"), _time(claims, "iat")
    if not_before is not None and not_before - rules.clock_skew_ms > now:
        raise WrongToken("its nbf has not come")
    if issued_at is None and rules.needs_issue_time:
        raise WrongToken("it has no iat")
    if issued_at is not None and issued_at >= expires_at:
        raise WrongToken("its iat is not before its exp")
    # 2.
    if rules.checks_audience:
        _check_audience(claims.get("aud"), rules.audiences)
    if rules.issuer is not None and claims.get("iss") != rules.issuer:
        raise WrongToken("its iss is another")
    # 3.
    name = claims.get(rules.subject_claim)
    if not isinstance(name, str) or not name.strip():
        raise WrongToken(f"its {rules.subject_claim} is no name")
    # 4.
    scopes = _scopes(claims.get(rules.scope_claim), rules.scope_claim)
    if not rules.required_scopes <= scopes:
        raise WrongToken("it lacks a required scope")
    return Subject(name=name.strip(), expires_at=expires_at)


def _time(claims: Mapping[str, Any], name: str) -> int | None:
    """Return a claim of seconds as milliseconds; None if it is not there."""
    value = claims.get(name)
    if value is None:
        return None
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not 0 <= value < _LATEST:
        raise WrongToken(f"its {name} is no time")
    return int(value * MILLISECONDS)


def _check_audience(value: Any, expected: frozenset[str]) -> None:
    audiences = value if isinstance(value, list) else [] if value is None else [value]
    if not all(isinstance(audience, str) for audience in audiences):
        raise WrongToken("its aud is no text")
    if (audiences or expected) and expected.isdisjoint(audiences):
        raise WrongToken("its aud is another")


def _scopes(value: Any, claim: str) -> frozenset[str]:
    scopes = value.split() if isinstance(value, str) else value or []
    is_list = isinstance(scopes, list) and all(
        isinstance(scope, str) and scope.strip() for scope in scopes
    )
    if not is_list:
        raise WrongToken(f"its {claim} is no list of texts")
    names = [scope.strip() for scope in scopes]
    if len(set(names)) != len(names):
        raise WrongToken(f"its {claim} has one twice")
    return frozenset(names)
