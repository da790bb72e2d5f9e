"""The `sasl.*` properties of Kafka's clients: a mechanism, and the options of its login module."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, unquote, urlsplit

from kwire.errors import InvalidValue
from kwire.net.jaas import login_module
from kwire.net.sasl import Credentials, Mechanism
from kwire.text.properties import TOKEN_COMMAND, WrongProperty

if TYPE_CHECKING:
    from kwire.net.bearer_token import TokenSource

MECHANISM = "sasl.mechanism"
JAAS = "sasl.jaas.config"
URL = "sasl.oauthbearer.token.endpoint.url"
CLIENT_ID = "sasl.oauthbearer.client.credentials.client.id"
CLIENT_SECRET = "sasl.oauthbearer.client.credentials.client.secret"
SCOPE = "sasl.oauthbearer.scope"
URL_ENCODED = "sasl.oauthbearer.header.urlencode"
RETRIEVER = "sasl.oauthbearer.jwt.retriever.class"
HANDLER = "sasl.login.callback.handler.class"
ALLOW_HTTP = "kwire.oauthbearer.allow.http"
"""Of kwire alone: `true` sends the client's secret to an http: URL of another machine."""

SASL_KNOWN = {
    MECHANISM,
    JAAS,
    URL,
    CLIENT_ID,
    CLIENT_SECRET,
    SCOPE,
    URL_ENCODED,
    RETRIEVER,
    HANDLER,
    TOKEN_COMMAND,
    ALLOW_HTTP,
}

SASL_IGNORED = {
    *(f"sasl.login.refresh.{name}" for name in ("window.factor", "window.jitter")),
    *(f"sasl.login.refresh.{name}" for name in ("min.period.seconds", "buffer.seconds")),
    *(f"sasl.login.{name}.timeout.ms" for name in ("connect", "read")),
    *(f"sasl.login.retry.backoff{name}" for name in (".ms", ".max.ms")),
    *(f"sasl.oauthbearer.{name}.claim.name" for name in ("scope", "sub")),
    "sasl.oauthbearer.clock.skew.seconds",
    "sasl.oauthbearer.jwt.validator.class",
    "sasl.kerberos.service.name",
}
"""Properties of how Java times its logins and checks its own tokens."""

_CLASSES = {
    HANDLER: {"OAuthBearerLoginCallbackHandler"},
    RETRIEVER: {"ClientCredentialsJwtRetriever", "FileJwtRetriever", "DefaultJwtRetriever"},
}
"""Kafka's own classes that do what kwire does."""

_EXTENSION = re.compile(r"[A-Za-z]+")
_EXTENSION_VALUE = re.compile(r"[\x21-\x7e \t\r\n]+")
_TLS_OPTION = "ssl."


def read_credentials(pairs: Mapping[str, str]) -> Credentials:
    """Read `sasl.*`. Raises WrongProperty, which names no secret."""
    name = pairs.get(MECHANISM, "GSSAPI").upper()
    if name not in set(Mechanism):
        known = ", ".join(Mechanism)
        raise WrongProperty(MECHANISM, f"{MECHANISM} is {name}, and must be one of {known}")
    mechanism, options = Mechanism(name), login_module(pairs.get(JAAS, ""), JAAS).options
    if mechanism is Mechanism.OAUTHBEARER:
        return _bearer(pairs, options)
    if not options.get("username") or "password" not in options:
        form = 'MODULE required username="NAME" password="PASSWORD";'
        raise WrongProperty(JAAS, f"{JAAS} must be: {form}")
    return Credentials(
        mechanism=mechanism,
        username=options["username"],
        password=options["password"],
        is_delegation_token=options.get("tokenauth", "").lower() == "true",
    )


def _bearer(pairs: Mapping[str, str], options: Mapping[str, str]) -> Credentials:
    from kwire.net.bearer_token import BearerTokens  # only where there are tokens

    for name, classes in _CLASSES.items():
        if pairs.get(name, "").rpartition(".")[2] not in classes | {""}:
            raise WrongProperty(name, f"{name} is a Java class that kwire does not stand in for")
    return Credentials(
        mechanism=Mechanism.OAUTHBEARER,
        username=pairs.get(CLIENT_ID) or options.get("clientId", ""),
        tokens=BearerTokens(_token_source(pairs, options)),
        extensions=_extensions(options),
    )


def _token_source(pairs: Mapping[str, str], options: Mapping[str, str]) -> TokenSource:
    """Return the one source that the properties name."""
    from kwire.net.token_sources import TokenCommand, TokenFile

    url, command = pairs.get(URL), pairs.get(TOKEN_COMMAND)
    if bool(url) == bool(command):
        trouble = "both" if url else "neither"
        reason = f"OAUTHBEARER needs {URL} or {TOKEN_COMMAND}, and there is {trouble}"
        raise WrongProperty(TOKEN_COMMAND if url else MECHANISM, reason)
    if command:
        return TokenCommand(arguments=_words(command))
    assert url
    try:
        parts = urlsplit(url)
        is_known = parts.port != 0  # raises ValueError for what is no port
    except ValueError:
        is_known = False
    if is_known and parts.scheme == "file" and parts.path:
        return TokenFile(_file(parts))
    if not is_known or parts.scheme not in ("http", "https") or not _is_host(parts):
        raise WrongProperty(URL, f"{URL} must be a URL of https:, http: or file:")
    return _endpoint(url, pairs, options)


def _endpoint(url: str, pairs: Mapping[str, str], options: Mapping[str, str]) -> TokenSource:
    from kwire.net.tls_properties import read_client_tls
    from kwire.net.token_sources import TokenEndpoint

    client_id = pairs.get(CLIENT_ID) or options.get("clientId")
    secret = pairs.get(CLIENT_SECRET) or options.get("clientSecret")
    if not client_id or not secret:
        missing, option = (CLIENT_SECRET, "clientSecret") if client_id else (CLIENT_ID, "clientId")
        raise WrongProperty(URL, f"{URL} needs {missing}, or {option} in {JAAS}")
    # Kafka takes the TLS of the endpoint from the login module, not from the cluster's.
    stores = {name: value for name, value in options.items() if name.startswith(_TLS_OPTION)}
    try:
        tls = read_client_tls(stores) if stores else None
    except WrongProperty as error:
        raise WrongProperty(JAAS, f"{JAAS}: {error}") from None
    try:
        return TokenEndpoint(
            url=url,
            client_id=client_id,
            client_secret=secret,
            scope=pairs.get(SCOPE) or options.get("scope"),
            tls=tls,
            is_urlencoded=pairs.get(URL_ENCODED, "").lower() == "true",
            allow_http=pairs.get(ALLOW_HTTP, "").lower() == "true",
        )
    except InvalidValue as error:
        advice = f"write https:, or {ALLOW_HTTP}=true if nobody is between"
        raise WrongProperty(URL, f"{URL}: {error}: {advice}") from None


def _extensions(options: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    prefix = "extension_"
    extensions = {
        name.removeprefix(prefix): value
        for name, value in options.items()
        if name.startswith(prefix)
    }
    for name, value in extensions.items():
        is_valid = _EXTENSION.fullmatch(name) and _EXTENSION_VALUE.fullmatch(value)
        if not is_valid or name == "auth":
            rule = "a name of letters other than auth, and a value of printable ASCII"
            raise WrongProperty(JAAS, f"{JAAS}: an {prefix}… needs {rule}")
    return tuple(extensions.items())


def _file(url: SplitResult) -> Path:
    path = unquote(url.path)
    # file:///C:/token has a slash before the drive.
    return Path(path[1:] if re.match(r"/[A-Za-z]:", path) else path)


def _is_host(url: SplitResult) -> bool:
    """True for a host without a user, whom the client id and its secret stand for."""
    return bool(url.hostname) and "@" not in url.netloc


def _words(command: str) -> tuple[str, ...]:
    try:
        words = tuple(shlex.split(command))
    except ValueError:
        words = ()
    if not words:
        raise WrongProperty(TOKEN_COMMAND, f"{TOKEN_COMMAND} must be a program and its arguments")
    return words
