"""The claims of tokens: which are accepted, and why others are not."""

from typing import Any

import pytest

from kwire.controller.authentication.token_claims import ClaimRules, WrongToken, check_claims

NOW = 1_000_000
"""Milliseconds, as the broker's clock has them; claims are seconds."""
GOOD = {"sub": "alice", "iat": 900, "exp": 1100}
ANY = ClaimRules()


def refusal(rules: ClaimRules = ANY, **claims: Any) -> str:
    """Return why a token is refused that differs from a good one; None takes a claim away."""
    changed = {name: value for name, value in (GOOD | claims).items() if value is not None}
    with pytest.raises(WrongToken) as refused:
        check_claims(changed, rules, NOW)
    return str(refused.value)


def test_a_good_token_names_its_subject_and_its_end() -> None:
    subject = check_claims({**GOOD, "sub": " alice "}, ClaimRules(), NOW)
    assert (subject.name, subject.expires_at) == ("alice", 1_100_000)
    fraction = check_claims({**GOOD, "exp": 1000.5}, ClaimRules(), NOW)
    assert fraction.expires_at == 1_000_500


def test_times_are_numbers_in_their_order() -> None:
    assert refusal(exp=None) == "it has no exp"
    assert refusal(exp=1000) == "it is over"
    assert refusal(nbf=1001) == "its nbf has not come"
    assert refusal(iat=None) == "it has no iat"
    assert refusal(iat=1100) == "its iat is not before its exp"
    for value in ("1100", True, -1, float("nan"), float("inf"), 10**30, [1100]):
        assert refusal(exp=value) == "its exp is no time"
    assert check_claims({"sub": "a", "exp": 1100}, ClaimRules(needs_issue_time=False), NOW)


def test_the_skew_of_clocks_is_granted_at_both_ends() -> None:
    rules = ClaimRules(clock_skew_ms=5000)
    assert check_claims({**GOOD, "exp": 996, "nbf": 1005}, rules, NOW)
    assert refusal(rules, exp=995) == "it is over"
    assert refusal(rules, nbf=1006) == "its nbf has not come"


def test_one_of_the_audiences_must_be_expected_and_none_if_none_is() -> None:
    rules = ClaimRules(audiences=frozenset({"kafka", "lab"}))
    assert check_claims({**GOOD, "aud": ["other", "lab"]}, rules, NOW)
    assert check_claims({**GOOD, "aud": "kafka"}, rules, NOW)
    assert refusal(rules) == "its aud is another"
    assert refusal(rules, aud="other") == "its aud is another"
    assert refusal(rules, aud=["kafka", 1]) == "its aud is no text"
    assert refusal(aud="kafka") == "its aud is another"
    assert check_claims({**GOOD, "aud": "any"}, ClaimRules(checks_audience=False), NOW)


def test_issuer_and_subject_are_those_of_the_rules() -> None:
    rules = ClaimRules(issuer="https://id", subject_claim="client")
    assert check_claims({**GOOD, "iss": "https://id", "client": "c1"}, rules, NOW).name == "c1"
    assert refusal(rules, iss="https://other", client="c1") == "its iss is another"
    assert refusal(rules, iss="https://id") == "its client is no name"
    for name in ("", "  ", 7, None):
        assert refusal(sub=name) == "its sub is no name"


def test_required_scopes_are_granted_as_a_text_or_a_list_and_each_once() -> None:
    rules = ClaimRules(required_scopes=frozenset({"read", "write"}))
    assert check_claims({**GOOD, "scope": "read write more"}, rules, NOW)
    assert check_claims({**GOOD, "scope": ["write", " read "]}, rules, NOW)
    assert refusal(rules, scope="read") == "it lacks a required scope"
    assert refusal(rules) == "it lacks a required scope"
    assert refusal(scope=["read", "read"]) == "its scope has one twice"
    for value in (["read", 1], [" "], 5):
        assert refusal(scope=value) == "its scope is no list of texts"
