"""Controllers whose listener wants SASL, as values of server.properties."""

from __future__ import annotations

from pathlib import Path

from kwire.logdir.scram import FirstCredential
from kwire.net.sasl import Credentials, Mechanism
from kwire.text.properties import properties_text
from tests.support.tokens import AUDIENCE, ISSUER

MODULES = "org.apache.kafka.common.security"
ADMIN, ADMIN_PASSWORD = "admin", "admin-tr0ub4dor"
ALICE, ALICE_PASSWORD = "alice", "correct-horse-battery"
SCRAM = ("SCRAM-SHA-256", "SCRAM-SHA-512")
FIRST_CREDENTIALS = tuple(
    FirstCredential.of_password(mechanism, user, password)
    for mechanism in SCRAM
    for user, password in ((ADMIN, ADMIN_PASSWORD), (ALICE, ALICE_PASSWORD))
)


def plain(user: str = ALICE, password: str = ALICE_PASSWORD) -> Credentials:
    return Credentials(mechanism=Mechanism.PLAIN, username=user, password=password)


def scram(
    mechanism: Mechanism = Mechanism.SCRAM_SHA_512,
    user: str = ALICE,
    password: str = ALICE_PASSWORD,
) -> Credentials:
    return Credentials(mechanism=mechanism, username=user, password=password)


def jaas(mechanism: str) -> str:
    """The login module of a server that logs in as ADMIN itself."""
    own = f'username="{ADMIN}" password="{ADMIN_PASSWORD}"'
    if mechanism == "PLAIN":
        users = f'user_{ADMIN}="{ADMIN_PASSWORD}" user_{ALICE}="{ALICE_PASSWORD}"'
        return f"{MODULES}.plain.PlainLoginModule required {own} {users};"
    if mechanism == "OAUTHBEARER":
        return f"{MODULES}.oauthbearer.OAuthBearerLoginModule required;"
    return f"{MODULES}.scram.ScramLoginModule required {own};"


def admin_properties(path: Path) -> Path:
    """Write the client properties of ADMIN, as for a proxy's own connections."""
    login = f'username="{ADMIN}" password="{ADMIN_PASSWORD}"'
    pairs = {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.jaas.config": f"{MODULES}.plain.PlainLoginModule required {login};",
    }
    path.write_text(properties_text(pairs))
    return path


def sasl_listener(
    login: str, *others: str, listener: str = "CONTROLLER", protocol: str = "SASL_PLAINTEXT"
) -> dict[str, str]:
    """A listener of these mechanisms; controllers use the first for each other."""
    mechanisms = (login, *others)
    prefix = f"listener.name.{listener.lower()}"
    return {
        "listener.security.protocol.map": f"{listener}:{protocol},PLAINTEXT:PLAINTEXT",
        "sasl.mechanism.controller.protocol": login,
        f"{prefix}.sasl.enabled.mechanisms": ",".join(mechanisms),
        **{f"{prefix}.{name.lower()}.sasl.jaas.config": jaas(name) for name in mechanisms},
    }


def signed_tokens(key_set: Path, listener: str = "controller") -> dict[str, str]:
    """The properties of OAUTHBEARER with the keys of a TokenIssuer."""
    handler = f"{MODULES}.oauthbearer.OAuthBearerValidatorCallbackHandler"
    prefix = f"listener.name.{listener}.oauthbearer.sasl"
    return {
        f"{prefix}.server.callback.handler.class": handler,
        "sasl.oauthbearer.jwks.endpoint.url": key_set.as_uri(),
        "sasl.oauthbearer.expected.audience": AUDIENCE,
        "sasl.oauthbearer.expected.issuer": ISSUER,
    }
