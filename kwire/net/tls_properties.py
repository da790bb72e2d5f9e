"""The `ssl.*` properties of Kafka's clients: stores, versions, cipher suites, names of hosts."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path

from kwire.errors import InvalidValue
from kwire.net.pem import read_store
from kwire.net.stores import TlsStore
from kwire.net.tls import VERSIONS, ClientTls
from kwire.text.properties import WrongProperty

TLS_KNOWN = {
    "ssl.truststore.type",
    "ssl.truststore.location",
    "ssl.truststore.password",
    "ssl.truststore.certificates",
    "ssl.keystore.type",
    "ssl.keystore.location",
    "ssl.keystore.password",
    "ssl.keystore.key",
    "ssl.keystore.certificate.chain",
    "ssl.key.password",
    "ssl.enabled.protocols",
    "ssl.cipher.suites",
    "ssl.endpoint.identification.algorithm",
}

TLS_IGNORED = {
    "ssl.protocol",
    "ssl.provider",
    "ssl.keymanager.algorithm",
    "ssl.trustmanager.algorithm",
    "ssl.secure.random.implementation",
}
"""Properties that choose among parts of Java; without them nothing is less safe."""

STORES = ("PEM", "PKCS12", "JKS")

_VALUES = {
    "keystore": ("ssl.keystore.key", "ssl.keystore.certificate.chain"),
    "truststore": ("ssl.truststore.certificates",),
}
"""The properties that hold a store themselves, in place of a file."""

_JKS = (b"\xfe\xed\xfe\xed", b"\xce\xce\xce\xce")
"""The first bytes of Java's own formats, JKS and JCEKS."""


def read_client_tls(pairs: Mapping[str, str]) -> ClientTls:
    """Read `ssl.*`. Raises WrongProperty, which names no secret."""
    truststore, keystore = _store(pairs, "truststore"), _store(pairs, "keystore")
    trusted, own = _plain_file(truststore), _plain_file(keystore)
    return ClientTls(
        authorities=trusted,
        certificate=own,
        truststore=None if trusted else truststore,
        keystore=None if own else keystore,
        check_name=_checks_name(pairs),
        protocols=_protocols(pairs),
        ciphers=_listed(pairs, "ssl.cipher.suites"),
    )


def _store(pairs: Mapping[str, str], store: str) -> TlsStore | None:
    kind_name, location = f"ssl.{store}.type", f"ssl.{store}.location"
    kind = pairs.get(kind_name, "").upper()
    if kind and kind not in STORES:
        raise WrongProperty(kind_name, f"{kind_name} is one of PEM, PKCS12")
    inline = [name for name in _VALUES[store] if pairs.get(name)]
    path = Path(pairs[location]) if pairs.get(location) else None
    if path is None and not inline:
        return None
    password = pairs.get(f"ssl.{store}.password")
    if inline or kind == "PEM":
        return _pem(pairs, store, path, inline)
    assert path is not None, "there is a file, as nothing is inline"
    if kind != "PKCS12":
        # Kafka's default type is JKS, by which Java reads PKCS12, too.
        _require_pkcs12(path, store)
    return TlsStore(name=store, path=path, is_pkcs12=True, password=password)


def _pem(
    pairs: Mapping[str, str], store: str, path: Path | None, inline: list[str]
) -> TlsStore | None:
    """Return a store in PEM, from a file or from properties."""
    password = f"ssl.{store}.password"
    if pairs.get(password):
        advice = "leave it out" + (
            ", and write ssl.key.password for an encrypted key" if store == "keystore" else ""
        )
        raise WrongProperty(password, f"{password} is not for stores in PEM: {advice}")
    key_password = pairs.get("ssl.key.password") or None if store == "keystore" else None
    if not inline:
        return TlsStore(name=store, path=path, key_password=key_password)
    try:
        text = read_store(pairs, store)
    except InvalidValue as error:
        raise WrongProperty(inline[0], str(error)) from None
    return TlsStore(name=store, text=text, key_password=key_password)


def _require_pkcs12(path: Path, store: str) -> None:
    """Raise WrongProperty unless a file begins as PKCS12 does, or cannot be read."""
    location, kind = f"ssl.{store}.location", f"ssl.{store}.type"
    try:
        with path.open("rb") as file:
            begin = file.read(4)
    except OSError as error:
        raise WrongProperty(
            location, f"{location}: {path} cannot be read: {error.strerror}"
        ) from None
    if begin in _JKS:
        target = path.with_suffix(".p12")
        files = shlex.join(["-srckeystore", str(path), "-destkeystore", str(target)])
        command = f"keytool -importkeystore {files} -deststoretype PKCS12"
        raise WrongProperty(
            location,
            f"{location}: {path} is in JKS, a format of Java's own. Convert it by `{command}`,"
            f" and set {location}={target} and {kind}=PKCS12",
        )
    if begin[:1] != b"\x30":
        raise WrongProperty(location, f"{location}: {path} is no PKCS12; for PEM set {kind}=PEM")


def _plain_file(store: TlsStore | None) -> Path | None:
    """Return the file of a store that is nothing but a file in PEM."""
    is_plain = store is not None and not store.is_pkcs12 and store.key_password is None
    return store.path if store is not None and is_plain else None


def _checks_name(pairs: Mapping[str, str]) -> bool:
    name = "ssl.endpoint.identification.algorithm"
    algorithm = pairs.get(name, "https").strip().lower()
    if algorithm not in ("", "https"):
        raise WrongProperty(name, f"{name} is https, or empty to accept a certificate for any host")
    return bool(algorithm)


def _protocols(pairs: Mapping[str, str]) -> tuple[str, ...]:
    name = "ssl.enabled.protocols"
    protocols = _listed(pairs, name)
    known = tuple(protocol for protocol in protocols if protocol in VERSIONS)
    if protocols and not known:
        raise WrongProperty(
            name, f"{name} has none of {', '.join(VERSIONS)}; older ones are unsafe"
        )
    return known


def _listed(pairs: Mapping[str, str], name: str) -> tuple[str, ...]:
    words = (word.strip() for word in pairs.get(name, "").split(","))
    return tuple(word for word in words if word)
