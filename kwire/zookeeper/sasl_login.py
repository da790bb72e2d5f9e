"""A login to ZooKeeper by SASL DIGEST-MD5, by the JAAS file of Kafka's nodes (JaasUtils)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from kwire.errors import InvalidValue
from kwire.net.jaas import login_section
from kwire.permissions import warn_if_readable
from kwire.text.properties import WrongProperty
from kwire.text.untrusted import read_text

LOGIN_CONFIG = "java.security.auth.login.config"
SECTION = "zookeeper.sasl.clientconfig"
ENABLE = "zookeeper.sasl.client"

SASL_KNOWN = frozenset({LOGIN_CONFIG, SECTION, ENABLE})
"""System properties of the JVM in Kafka, which kwire reads among the others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SaslLogin:
    """A user with its password. source: where they stand, for errors."""

    username: str
    password: str = field(repr=False)
    source: str = field(compare=False)

    @property
    def kazoo_options(self) -> dict[str, object]:
        """The login as pure-sasl takes it: the bytes that Java hashes and sends."""
        return {
            "mechanism": "DIGEST-MD5",
            "username": self.username,
            "password": self.password.encode("latin-1"),
        }


def read_sasl_login(pairs: Mapping[str, str]) -> SaslLogin | None:
    """Read the section of the JAAS file that the properties name; None if they name no file.

    Raises WrongProperty, which holds no secret.
    """
    file, section = pairs.get(LOGIN_CONFIG, "").strip(), pairs.get(SECTION, "").strip() or "Client"
    if not file or pairs.get(ENABLE, "true").strip().lower() == "false":
        return None
    source = f"section {section} of {file}"
    try:
        module = login_section(read_text(Path(file), InvalidValue), section, LOGIN_CONFIG)
        warn_if_readable(Path(file))
    except InvalidValue as error:
        raise WrongProperty(LOGIN_CONFIG, f"{LOGIN_CONFIG}: {error}") from None
    if module is None:
        reason = f"{LOGIN_CONFIG}: {file} has no section {section}: {SECTION} names another"
        raise WrongProperty(LOGIN_CONFIG, reason)
    if module.name == "Krb5LoginModule":
        reason = f"{source} is a login by Kerberos (GSSAPI), which kwire does not have"
        raise WrongProperty(LOGIN_CONFIG, f"{LOGIN_CONFIG}: {reason}")
    username, password = module.options.get("username"), module.options.get("password")
    if not username or not password:
        form = 'DigestLoginModule required username="NAME" password="PASSWORD";'
        raise WrongProperty(LOGIN_CONFIG, f"{LOGIN_CONFIG}: {source} must be: {form}")
    if not username.isascii() or any(ord(character) > 255 for character in password):
        # Java's client tells the server that it writes others in UTF-8, and pure-sasl does not.
        reason = f"{source} has a name that is not ASCII, or a password that is not ISO 8859-1"
        raise WrongProperty(LOGIN_CONFIG, f"{LOGIN_CONFIG}: {reason}")
    return SaslLogin(username=username, password=password, source=source)
