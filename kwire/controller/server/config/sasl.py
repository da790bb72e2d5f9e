"""SASL of a listener, from Kafka's server.properties (KIP-103, KIP-255, KIP-368)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from kwire.controller.server.config import property_values
from kwire.errors import InvalidValue
from kwire.net.jaas import LoginModule, login_module
from kwire.net.sasl import Credentials, Mechanism
from kwire.net.sasl_properties import JAAS, SASL_KNOWN, read_credentials
from kwire.text.untrusted import read_text

if TYPE_CHECKING:
    from kwire.controller.authentication.token_claims import ClaimRules
    from kwire.controller.authentication.token_validators import TokenValidator

LOGIN_MECHANISM = "sasl.mechanism.controller.protocol"
BROKER_LOGIN_MECHANISM = "sasl.mechanism.inter.broker.protocol"
ENABLED_MECHANISMS = "sasl.enabled.mechanisms"
CALLBACK_HANDLER = "sasl.server.callback.handler.class"
SESSION_LIMIT = "connections.max.reauth.ms"
RECEIVE_LIMIT = "sasl.server.max.receive.size"
FAILURE_DELAY = "connection.failed.authentication.delay.ms"
TOKEN_SECRET = "delegation.token.secret.key"
KEY_SET = "sasl.oauthbearer.jwks.endpoint.url"
AUDIENCE = "sasl.oauthbearer.expected.audience"
ISSUER = "sasl.oauthbearer.expected.issuer"
CLOCK_SKEW = "sasl.oauthbearer.clock.skew.seconds"
SUBJECT_CLAIM = "sasl.oauthbearer.sub.claim.name"
SCOPE_CLAIM = "sasl.oauthbearer.scope.claim.name"

SASL_LISTENER_KNOWN = frozenset(SASL_KNOWN) | {
    LOGIN_MECHANISM,
    ENABLED_MECHANISMS,
    CALLBACK_HANDLER,
    SESSION_LIMIT,
    RECEIVE_LIMIT,
    FAILURE_DELAY,
    TOKEN_SECRET,
    KEY_SET,
    AUDIENCE,
    ISSUER,
    CLOCK_SKEW,
    SUBJECT_CLAIM,
    SCOPE_CLAIM,
}

_MODULES = {
    Mechanism.PLAIN: "PlainLoginModule",
    Mechanism.SCRAM_SHA_256: "ScramLoginModule",
    Mechanism.SCRAM_SHA_512: "ScramLoginModule",
    Mechanism.OAUTHBEARER: "OAuthBearerLoginModule",
}
_SIGNED, _UNSIGNED = (
    "OAuthBearerValidatorCallbackHandler",
    "OAuthBearerUnsecuredValidatorCallbackHandler",
)
_USER = "user_"
_UNSIGNED_OPTION = "unsecuredValidator"


@dataclass(frozen=True, slots=True, kw_only=True)
class MechanismConfig:
    """One mechanism of a listener.

    passwords: of PLAIN, by user. validator: of OAUTHBEARER. session_limit_ms: milliseconds after
    which a client has to log in again, 0 for never.
    """

    passwords: Mapping[str, str] = field(default_factory=dict, repr=False)
    validator: TokenValidator | None = None
    session_limit_ms: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SaslConfig:
    """SASL of one listener.

    mechanisms: by name, in the order of sasl.enabled.mechanisms. login: the credentials of this
    controller towards others; None if this is not their listener. receive_limit: bytes of a frame
    before the login. failure_delay_ms: milliseconds until a refusal is sent. token_secret: makes
    the HMACs of delegation tokens.
    """

    mechanisms: Mapping[str, MechanismConfig]
    login: Credentials | None
    receive_limit: int
    failure_delay_ms: int
    token_secret: str | None = field(repr=False)


def sasl_config(pairs: Mapping[str, str], listener: str, *, logs_in: bool) -> SaslConfig:
    """Read the SASL of a listener. logs_in: True if controllers reach each other there.

    Raises InvalidValue, which holds no secret, for what is missing or not supported.
    """
    reader = _SaslProperties(pairs, listener)
    names = property_values.listed({"": reader.value(ENABLED_MECHANISMS) or "GSSAPI"}, "")
    mechanisms = {name: _mechanism_config(reader, _known(name)) for name in names}
    return SaslConfig(
        mechanisms=mechanisms,
        login=_login(reader, LOGIN_MECHANISM) if logs_in else None,
        receive_limit=reader.number(RECEIVE_LIMIT, 512 * 1024),
        failure_delay_ms=reader.number(FAILURE_DELAY, 100),
        token_secret=pairs.get(TOKEN_SECRET) or None,
    )


def broker_login(pairs: Mapping[str, str], listener: str) -> Credentials:
    """Return the credentials of requests to brokers at a listener. Raises as `sasl_config`."""
    return _login(_SaslProperties(pairs, listener), BROKER_LOGIN_MECHANISM)


class _SaslProperties:
    """The properties of a listener; its own and its mechanisms' come before the general ones."""

    def __init__(self, pairs: Mapping[str, str], listener: str) -> None:
        self.pairs = pairs
        self.prefix = f"listener.name.{listener.lower()}."

    def value(self, name: str, mechanism: str = "") -> str | None:
        own = f"{self.prefix}{mechanism.lower()}.{name}" if mechanism else ""
        for key in (own, self.prefix + name, name):
            if key in self.pairs:
                return self.pairs[key].strip()
        return None

    def number(self, name: str, default: int, mechanism: str = "") -> int:
        value = self.value(name, mechanism)
        return property_values.number({name: value or ""}, name, default)

    def module(self, mechanism: Mechanism) -> tuple[str, LoginModule]:
        """Return the property of a mechanism's login module, and the module.

        As in Kafka, a sasl.jaas.config without listener and mechanism is not for servers.
        """
        name = f"{self.prefix}{mechanism.lower()}.{JAAS}"
        text, expected = self.pairs.get(name, ""), _MODULES[mechanism]
        module = login_module(text, name)
        if module.name != expected:
            found = f"is of {module.name}" if module.name else "is missing"
            raise InvalidValue(f"{name} {found}: {mechanism} needs the login module {expected}")
        return name, module


def _known(name: str) -> Mechanism:
    if name not in set(Mechanism):
        known = ", ".join(Mechanism)
        raise InvalidValue(f"{ENABLED_MECHANISMS}: {name} is not supported, but {known}")
    return Mechanism(name)


def _mechanism_config(reader: _SaslProperties, mechanism: Mechanism) -> MechanismConfig:
    _, module = reader.module(mechanism)
    options = module.options
    handler = (reader.value(CALLBACK_HANDLER, mechanism) or "").rpartition(".")[2]
    is_bearer = mechanism is Mechanism.OAUTHBEARER
    if handler and not (is_bearer and handler in (_SIGNED, _UNSIGNED)):
        raise InvalidValue(f"{CALLBACK_HANDLER} of {mechanism}: kwire runs no Java class {handler}")
    passwords = {
        name.removeprefix(_USER): value for name, value in options.items() if name.startswith(_USER)
    }
    return MechanismConfig(
        passwords=passwords if mechanism is Mechanism.PLAIN else {},
        validator=_validator(reader, options, handler) if is_bearer else None,
        session_limit_ms=reader.number(SESSION_LIMIT, 0, mechanism),
    )


def _login(reader: _SaslProperties, setting: str) -> Credentials:
    """Return the credentials of requests to other nodes, from the listener's own module.

    setting: names the mechanism.
    """
    name = reader.value(setting)
    if name is None or name not in set(Mechanism):
        known = ", ".join(Mechanism)
        raise InvalidValue(f"{setting} is {name}, and must be one of {known}")
    property_name, _ = reader.module(Mechanism(name))
    client = {"sasl.mechanism": name, JAAS: reader.pairs[property_name]}
    for known_name in SASL_KNOWN - {"sasl.mechanism", JAAS}:
        value = reader.value(known_name, name)
        if value is not None:
            client[known_name] = value
    try:
        return read_credentials(client)
    except InvalidValue as error:
        raise InvalidValue(str(error).replace(JAAS, property_name)) from None


def _validator(reader: _SaslProperties, options: Mapping[str, str], handler: str) -> TokenValidator:
    """Return the validator of tokens: Kafka's default, unsigned ones, must be asked for."""
    from kwire.controller.authentication.token_validators import SignedTokens, UnsignedTokens

    if handler == _UNSIGNED:
        return UnsignedTokens(_unsigned_rules(options))
    url = reader.value(KEY_SET, Mechanism.OAUTHBEARER)
    if not url:
        text = f"OAUTHBEARER needs {KEY_SET}, or {CALLBACK_HANDLER} of {_UNSIGNED} for tests"
        raise InvalidValue(text)
    parts = urlsplit(url)
    if parts.scheme != "file" or not parts.path:
        raise InvalidValue(f"{KEY_SET} must be the URL of a file: keys are not fetched")
    text = read_text(Path(unquote(parts.path)), InvalidValue)
    try:
        return SignedTokens(text, _signed_rules(reader))
    except InvalidValue as error:
        raise InvalidValue(f"{KEY_SET}: {error}") from None


def _signed_rules(reader: _SaslProperties) -> ClaimRules:
    from kwire.controller.authentication.token_claims import ClaimRules

    bearer = Mechanism.OAUTHBEARER
    audiences = property_values.listed({"": reader.value(AUDIENCE, bearer) or ""}, "")
    return ClaimRules(
        audiences=frozenset(audiences),
        issuer=reader.value(ISSUER, bearer),
        clock_skew_ms=1000 * reader.number(CLOCK_SKEW, 30, bearer),
        subject_claim=reader.value(SUBJECT_CLAIM, bearer) or "sub",
        scope_claim=reader.value(SCOPE_CLAIM, bearer) or "scope",
    )


def _unsigned_rules(options: Mapping[str, str]) -> ClaimRules:
    from kwire.controller.authentication.token_claims import ClaimRules

    def option(name: str) -> str:
        return options.get(_UNSIGNED_OPTION + name, "").strip()

    skew = {_UNSIGNED_OPTION + "AllowableClockSkewMs": option("AllowableClockSkewMs")}
    return ClaimRules(
        checks_audience=False,
        clock_skew_ms=property_values.number(skew, next(iter(skew)), 0),
        subject_claim=option("PrincipalClaimName") or "sub",
        scope_claim=option("ScopeClaimName") or "scope",
        needs_issue_time=False,
        required_scopes=frozenset(option("RequiredScope").split()),
    )
