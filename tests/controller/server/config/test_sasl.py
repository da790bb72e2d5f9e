"""Properties of SASL listeners that are refused at the start, and say why without a secret."""

from __future__ import annotations

from pathlib import Path

import pytest

from kwire.controller.server.config.sasl import sasl_config
from kwire.errors import InvalidValue
from tests.support.controller.sasl_listeners import ADMIN_PASSWORD, MODULES, jaas, sasl_listener

PREFIX = "listener.name.controller"
ENABLED = f"{PREFIX}.sasl.enabled.mechanisms"
PLAIN_JAAS = f"{PREFIX}.plain.sasl.jaas.config"
BEARER_JAAS = f"{PREFIX}.oauthbearer.sasl.jaas.config"
HANDLER = "sasl.server.callback.handler.class"
LOGIN = "sasl.mechanism.controller.protocol"
KEYS = "sasl.oauthbearer.jwks.endpoint.url"
PLAIN = sasl_listener("PLAIN")
BEARER = PLAIN | {ENABLED: "PLAIN,OAUTHBEARER", BEARER_JAAS: jaas("OAUTHBEARER")}


def refusal(pairs: dict[str, str]) -> str:
    with pytest.raises(InvalidValue) as refused:
        sasl_config(pairs, "CONTROLLER", logs_in=True)
    return str(refused.value)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({ENABLED: "GSSAPI"}, "sasl.enabled.mechanisms: GSSAPI is not supported, but PLAIN, "),
        ({ENABLED: ""}, "sasl.enabled.mechanisms: GSSAPI is not supported, but PLAIN, "),
        ({ENABLED: "PLAIN,DIGEST-MD5"}, "DIGEST-MD5 is not supported"),
        ({ENABLED: "plain"}, "plain is not supported"),
        ({PLAIN_JAAS: ""}, f"{PLAIN_JAAS} is missing: PLAIN needs the login module Plain"),
        (
            {PLAIN_JAAS: jaas("SCRAM-SHA-256")},
            f"{PLAIN_JAAS} is of ScramLoginModule: PLAIN needs the login module PlainLoginModule",
        ),
        ({PLAIN_JAAS: f'{jaas("PLAIN")} x="'}, f"{PLAIN_JAAS} has a quotation mark without"),
        ({PLAIN_JAAS: f"{MODULES}.plain.PlainLoginModule required;"}, f"{PLAIN_JAAS} must be: "),
        (
            {PLAIN_JAAS: f'PlainLoginModule required username="admin" x="{ADMIN_PASSWORD}";'},
            f"{PLAIN_JAAS} must be: ",
        ),
        (
            {HANDLER: "org.example.Passwords"},
            f"{HANDLER} of PLAIN: kwire runs no Java class Passwords",
        ),
        (
            {f"{PREFIX}.plain.{HANDLER}": "org.example.Passwords"},
            f"{HANDLER} of PLAIN: kwire runs no Java class Passwords",
        ),
        ({LOGIN: "GSSAPI"}, f"{LOGIN} is GSSAPI, and must be one of PLAIN, "),
        (
            {LOGIN: "SCRAM-SHA-256"},
            f"{PREFIX}.scram-sha-256.sasl.jaas.config is missing: SCRAM-SHA-256 needs",
        ),
        ({"sasl.server.max.receive.size": "much"}, "max.receive.size is 'much'"),
        ({f"{PREFIX}.plain.connections.max.reauth.ms": "-1"}, "max.reauth.ms is '-1'"),
        ({"connection.failed.authentication.delay.ms": "x"}, "delay.ms is 'x'"),
    ],
)
def test_what_a_listener_lacks_or_kwire_does_not_have_is_refused(
    change: dict[str, str], told: str
) -> None:
    message = refusal(PLAIN | change)
    assert told in message
    assert ADMIN_PASSWORD not in message


def test_controllers_need_a_mechanism_to_log_in_with() -> None:
    pairs = {name: value for name, value in PLAIN.items() if name != LOGIN}
    assert f"{LOGIN} is None, and must be one of PLAIN, " in refusal(pairs)
    assert sasl_config(pairs, "CONTROLLER", logs_in=False).login is None


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({}, f"OAUTHBEARER needs {KEYS}, or {HANDLER} of OAuthBearerUnsecuredValidator"),
        ({KEYS: "https://keys.example.org/"}, f"{KEYS} must be the URL of a file"),
        ({KEYS: "file:"}, f"{KEYS} must be the URL of a file"),
        ({KEYS: "file:/no/such/file"}, "/no/such/file"),
        ({f"{PREFIX}.oauthbearer.{HANDLER}": "org.example.Tokens"}, "no Java class Tokens"),
        (
            {f"{PREFIX}.plain.{HANDLER}": "OAuthBearerValidatorCallbackHandler"},
            f"{HANDLER} of PLAIN: kwire runs no Java class OAuthBearerValidatorCallbackHandler",
        ),
    ],
)
def test_tokens_need_keys_in_a_file(change: dict[str, str], told: str) -> None:
    assert told in refusal(BEARER | change)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "it is no JSON Web Key Set"),
        ("{}", "it is no JSON Web Key Set"),
        ('{"keys": 1}', "it is no JSON Web Key Set"),
        ("[" * 100_000, "it is no JSON Web Key Set"),
        ('{"keys": [{"kty": "oct", "k": "c2VjcmV0"}]}', "it has no public key of RSA, EC or EdDSA"),
    ],
    ids=["empty", "no keys", "a number", "deep", "a shared secret"],
)
def test_a_file_without_public_keys_is_refused(text: str, told: str, tmp_path: Path) -> None:
    file = tmp_path / "keys.json"
    file.write_text(text)
    message = refusal(BEARER | {KEYS: file.as_uri()})
    assert message.startswith(f"{KEYS}: {told}")
    assert "c2VjcmV0" not in message
