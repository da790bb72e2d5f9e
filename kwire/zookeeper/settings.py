"""Settings of a connection with ZooKeeper, as in Kafka 3.9's properties (zookeeper.*)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kwire.errors import InvalidValue
from kwire.net.address import Address
from kwire.text.properties import WrongProperty
from kwire.text.untrusted import whole_number
from kwire.zookeeper.paths import check_path
from kwire.zookeeper.sasl_login import LOGIN_CONFIG, SASL_KNOWN, SaslLogin, read_sasl_login

if TYPE_CHECKING:
    from kwire.net.tls import ClientTls

DEFAULT_PORT = 2181
SESSION_SECONDS = 18.0
"""Kafka's zookeeper.session.timeout.ms."""

CONNECT = "zookeeper.connect"
DIGEST = "kwire.zookeeper.digest"
SET_ACL = "zookeeper.set.acl"

_SSL = "zookeeper.ssl."

_CHECKED_BY_JAVA = ("zookeeper.ssl.crl.enable", "zookeeper.ssl.ocsp.enable")

ZOOKEEPER_KNOWN = frozenset(
    {
        CONNECT,
        DIGEST,
        "zookeeper.session.timeout.ms",
        "zookeeper.connection.timeout.ms",
        SET_ACL,
        "zookeeper.ssl.client.enable",
        "zookeeper.ssl.protocol",
        "zookeeper.ssl.enabled.protocols",
        "zookeeper.ssl.cipher.suites",
        "zookeeper.ssl.endpoint.identification.algorithm",
        "zookeeper.ssl.keystore.location",
        "zookeeper.ssl.keystore.password",
        "zookeeper.ssl.keystore.type",
        "zookeeper.ssl.truststore.location",
        "zookeeper.ssl.truststore.password",
        "zookeeper.ssl.truststore.type",
        *_CHECKED_BY_JAVA,
        *SASL_KNOWN,
    }
)
"""The properties that have an effect here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ZooKeeperSettings:
    """Everything that a client of ZooKeeper needs to know.

    chroot: the path of the znode that stands for the root; empty for the root itself. digest: user
    and password of the scheme `digest`. sasl: the login by SASL. set_acl: let only this session's
    user change what it creates (zookeeper.set.acl). connection_seconds: how long to wait for the
    first session. retries_refused: wait so long also if every address refuses, as brokers do.
    """

    addresses: tuple[Address, ...]
    chroot: str = ""
    session_seconds: float = SESSION_SECONDS
    connection_seconds: float = SESSION_SECONDS
    digest: tuple[str, str] | None = field(default=None, repr=False)
    sasl: SaslLogin | None = None
    set_acl: bool = False
    retries_refused: bool = True
    tls: ClientTls | None = None

    @property
    def servers(self) -> str:
        """The addresses, without the chroot."""
        return ",".join(map(str, self.addresses))

    @property
    def connect(self) -> str:
        """The addresses and the chroot, as in zookeeper.connect."""
        return self.servers + self.chroot

    @classmethod
    def parse(cls, connect: str) -> ZooKeeperSettings:
        """Read the value of zookeeper.connect: `host:port,host:port/chroot`.

        A port that is left out is 2181. Raises InvalidValue.
        """
        servers, slash, chroot = connect.strip().partition("/")
        path = f"/{chroot}".rstrip("/") if slash else ""
        if path:
            check_path(path)
        return cls(addresses=tuple(_address(text) for text in servers.split(",")), chroot=path)

    @classmethod
    def from_properties(cls, pairs: Mapping[str, str]) -> ZooKeeperSettings:
        """Read `zookeeper.*` of a controller's or a broker's properties; others are ignored.

        `kwire.zookeeper.digest` is user:password, for which Kafka has no property. Raises
        WrongProperty, which names no secret.
        """
        if not pairs.get(CONNECT, "").strip():
            raise WrongProperty(CONNECT, f"{CONNECT} is missing: write host:port,host:port/chroot")
        try:
            parsed = cls.parse(pairs[CONNECT])
        except InvalidValue as error:
            raise WrongProperty(CONNECT, f"{CONNECT}: {error}") from None
        session = _seconds(pairs, "zookeeper.session.timeout.ms", SESSION_SECONDS)
        settings = cls(
            addresses=parsed.addresses,
            chroot=parsed.chroot,
            session_seconds=session,
            connection_seconds=_seconds(pairs, "zookeeper.connection.timeout.ms", session),
            digest=_digest(pairs),
            sasl=read_sasl_login(pairs),
            set_acl=_is_true(pairs, SET_ACL),
            tls=_tls(pairs) if _is_true(pairs, "zookeeper.ssl.client.enable") else None,
        )
        settings.check_identity()
        return settings

    def check_identity(self) -> None:
        """Raise WrongProperty for ACLs of nobody (as KafkaZkClient.createZkClient) or of two."""
        if self.sasl and self.digest:
            # ZooKeeper would put both into the ACLs of what the session creates.
            raise WrongProperty(DIGEST, f"give {DIGEST} or {LOGIN_CONFIG}, not both")
        has_certificate = self.tls and (self.tls.certificate or self.tls.keystore)
        if self.set_acl and not (self.sasl or self.digest or has_certificate):
            wanted = f"{LOGIN_CONFIG}, {DIGEST} or zookeeper.ssl.keystore.location"
            raise WrongProperty(SET_ACL, f"{SET_ACL} is true, which needs a login: give {wanted}")


def _address(text: str) -> Address:
    text = text.strip()
    if not text:
        raise InvalidValue("an address is empty: write host:port,host:port/chroot")
    has_port = ":" in text.rpartition("]")[2]
    return Address.parse(text if has_port else f"{text}:{DEFAULT_PORT}")


def _seconds(pairs: Mapping[str, str], name: str, default: float) -> float:
    if name not in pairs:
        return default
    milliseconds = whole_number(pairs[name], bits=31)
    if not milliseconds:
        raise WrongProperty(name, f"{name} is a number of milliseconds from 1 on")
    return milliseconds / 1000


def _is_true(pairs: Mapping[str, str], name: str) -> bool:
    value = pairs.get(name, "false").strip().lower()
    if value not in ("true", "false"):
        raise WrongProperty(name, f"{name} is true or false")
    return value == "true"


def _digest(pairs: Mapping[str, str]) -> tuple[str, str] | None:
    if DIGEST not in pairs:
        return None
    user, colon, password = pairs[DIGEST].partition(":")
    if not (user and colon):
        raise WrongProperty(DIGEST, f"{DIGEST} is user:password")
    return user, password


def _tls(pairs: Mapping[str, str]) -> ClientTls:
    """Read zookeeper.ssl.* as the client property of the rest of the name.

    TLS 1.2 is the default (zookeeper.ssl.protocol), and the host's name is checked.
    """
    from kwire.net.tls_properties import read_client_tls

    for name in _CHECKED_BY_JAVA:
        if _is_true(pairs, name):
            raise WrongProperty(name, f"{name} is not supported: leave it out")
    plain = {
        name.removeprefix("zookeeper."): value
        for name, value in pairs.items()
        if name.startswith(_SSL)
    }
    plain.setdefault("ssl.enabled.protocols", plain.get("ssl.protocol", "TLSv1.2"))
    for store in ("keystore", "truststore"):
        _read_pem_as_zookeeper(plain, store)
    try:
        return read_client_tls(plain)
    except WrongProperty as error:
        reason = re.sub(r"(?<![\w./])ssl\.", _SSL, str(error))
        raise WrongProperty(f"zookeeper.{error.name}", reason) from None


def _read_pem_as_zookeeper(plain: dict[str, str], store: str) -> None:
    """Change the properties of a store in PEM from ZooKeeper's meaning to that of Kafka's clients.

    A file `*.pem` is PEM without a type (KeyStoreFileType). The keystore's password is that of the
    key, and a truststore has none (PEMFileLoader).
    """
    if plain.get(f"ssl.{store}.location", "").endswith(".pem"):
        plain.setdefault(f"ssl.{store}.type", "PEM")
    if plain.get(f"ssl.{store}.type", "").upper() == "PEM":
        password = plain.pop(f"ssl.{store}.password", "")
        if store == "keystore":
            plain["ssl.key.password"] = password
