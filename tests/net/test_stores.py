"""Stores of client properties, PEM and PKCS12: read, and used in handshakes."""

from __future__ import annotations

import asyncio
import shlex
import ssl
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from cryptography.hazmat.primitives.serialization.pkcs12 import serialize_key_and_certificates
from cryptography.x509 import load_pem_x509_certificate

from kwire.errors import ConnectionFailed, InvalidValue
from kwire.net.accepting import stop_accepting
from kwire.net.connection import Connection
from kwire.net.security import read_security
from kwire.net.stores import BadTls, TlsStore
from kwire.net.tls import ClientTls, openssl_name
from kwire.proxy.capture.record_topic import librdkafka
from kwire.text.properties import properties_text
from real_kafka import java
from scripted_node import ScriptedNode
from tests.support.certificates import Authority, Pem

PASSWORD = "s3cret-Ü"
PKCS12 = "cryptography.hazmat.primitives.serialization"


@dataclass
class Certificates:
    """An authority, a client's certificate of it, and a node that wants one."""

    folder: Path
    authority: Authority
    client: Pem

    @property
    def server(self) -> ssl.SSLContext:
        return self.authority.server("127.0.0.1", clients=self.authority)

    @property
    def key(self) -> EllipticCurvePrivateKey:
        key = load_pem_private_key(self.client.key.read_bytes(), None)
        assert isinstance(key, EllipticCurvePrivateKey)
        return key

    def pkcs12(self, password: str | None = PASSWORD) -> Path:
        """The client's key and certificate in one file."""
        path = self.folder / "client.p12"
        encryption = (
            NoEncryption() if password is None else BestAvailableEncryption(password.encode())
        )
        certificate = load_pem_x509_certificate(self.client.certificate.read_bytes())
        path.write_bytes(
            serialize_key_and_certificates(b"me", self.key, certificate, None, encryption)
        )
        return path

    def encrypted_pem(self) -> Path:
        """The client's certificate, and its key encrypted as PKCS 8, as Kafka takes it."""
        path = self.folder / "client-encrypted.pem"
        key = self.key.private_bytes(
            Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(PASSWORD.encode())
        )
        path.write_bytes(key + self.client.certificate.read_bytes())
        return path


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    folder = tmp_path_factory.mktemp("stores")
    authority = Authority(folder, "ca")
    return Certificates(folder, authority, authority.issue("client"))


def tls(folder: Path, **properties: str | Path) -> ClientTls:
    """Read properties whose names have an underscore for each dot."""
    pairs = {f"ssl.{name.replace('_', '.')}": str(value) for name, value in properties.items()}
    file = folder / "client.properties"
    file.write_text(properties_text({"security.protocol": "SSL", **pairs}))
    found = read_security(file).tls
    assert found is not None
    return found


async def connect(certificates: Certificates, tls: ClientTls) -> None:
    """Open a connection to a node that wants a certificate."""
    async with (
        ScriptedNode(ssl=certificates.server) as node,
        await Connection.open("127.0.0.1", node.port, ssl=tls.context(), connect_timeout=60),
    ):
        pass


def trusted(certificates: Certificates) -> dict[str, str | Path]:
    return {"truststore_type": "PEM", "truststore_location": certificates.authority.path}


def pem_keystore(certificates: Certificates) -> dict[str, str | Path]:
    """An encrypted key and its password."""
    path = certificates.encrypted_pem()
    return {"keystore_type": "PEM", "keystore_location": path, "key_password": PASSWORD}


def inline_keystore(certificates: Certificates) -> dict[str, str | Path]:
    """The key and the chain in the properties themselves, in one line each."""
    pem = certificates.client
    return {
        "keystore_type": "PEM",
        "keystore_key": " ".join(pem.key.read_text().splitlines()),
        "keystore_certificate_chain": " ".join(pem.certificate.read_text().splitlines()),
    }


def pkcs12_keystore(certificates: Certificates) -> dict[str, str | Path]:
    path = certificates.pkcs12()
    return {"keystore_type": "PKCS12", "keystore_location": path, "keystore_password": PASSWORD}


def open_pkcs12_keystore(certificates: Certificates) -> dict[str, str | Path]:
    """Without a password, and without its type."""
    return {"keystore_location": certificates.pkcs12(None)}


Keystore = Callable[[Certificates], dict[str, str | Path]]


@pytest.mark.parametrize(
    "keystore", [pem_keystore, inline_keystore, pkcs12_keystore, open_pkcs12_keystore]
)
async def test_a_node_that_wants_a_certificate_gets_that_of_the_keystore(
    certificates: Certificates, tmp_path: Path, keystore: Keystore
) -> None:
    found = tls(tmp_path, **trusted(certificates), **keystore(certificates))
    assert PASSWORD not in repr(found)
    await connect(certificates, found)
    with pytest.raises(ConnectionFailed):
        await connect(certificates, tls(tmp_path, **trusted(certificates)))


async def test_authorities_may_stand_in_the_properties(
    certificates: Certificates, tmp_path: Path
) -> None:
    text = certificates.authority.path.read_text()
    properties = {"truststore_type": "PEM", "truststore_certificates": text}
    await connect(certificates, tls(tmp_path, **properties, **pkcs12_keystore(certificates)))
    other = Authority(tmp_path, "other").path.read_text()
    properties["truststore_certificates"] = other
    with pytest.raises(ConnectionFailed, match="a certificate that is not accepted"):
        await connect(certificates, tls(tmp_path, **properties))


def test_a_key_leaves_no_file_behind(
    certificates: Certificates, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    written: list[str] = []
    load = ssl.SSLContext.load_cert_chain

    def noted(context: ssl.SSLContext, certfile: str, *, password: str) -> None:
        written.append(Path(certfile).read_text())
        assert Path(certfile).stat().st_mode & 0o077 == 0
        load(context, certfile, password=password)

    monkeypatch.setattr(ssl.SSLContext, "load_cert_chain", noted)
    tls(tmp_path, **pkcs12_keystore(certificates)).context()
    assert list(folder.iterdir()) == []
    (text,) = written
    assert "BEGIN ENCRYPTED PRIVATE KEY" in text


@pytest.mark.parametrize(
    ("keystore", "change", "why"),
    [
        (pkcs12_keystore, {"keystore_password": "other"}, "check ssl.keystore.password"),
        (pkcs12_keystore, {"keystore_password": ""}, "check ssl.keystore.password"),
        (pem_keystore, {"key_password": "other"}, "encrypted key, and ssl.key.password is wrong"),
        (pem_keystore, {"key_password": ""}, "is encrypted: give .* its password as ssl.key.pass"),
        (inline_keystore, {"keystore_key": "-----BEGIN X----- eA== -----END X-----"}, "holds no"),
    ],
)
def test_a_wrong_password_names_the_property_and_no_password(
    certificates: Certificates, tmp_path: Path, keystore: Keystore, change: dict[str, str], why: str
) -> None:
    properties = {**keystore(certificates), **change}
    with pytest.raises(BadTls, match=why) as caught:
        tls(tmp_path, **properties).context()
    assert PASSWORD not in str(caught.value)


def test_stores_that_are_none_are_named(certificates: Certificates, tmp_path: Path) -> None:
    garbage = tmp_path / "a.p12"
    garbage.write_bytes(b"0123")
    with pytest.raises(BadTls, match=r"ssl\.keystore\.location .*a\.p12 holds no PKCS12"):
        tls(tmp_path, keystore_location=garbage).context()
    with pytest.raises(BadTls, match=r"cannot be read: No such file"):
        tls(tmp_path, keystore_type="PKCS12", keystore_location="none.p12").context()
    key = certificates.client.key.read_text()
    with pytest.raises(BadTls, match=r"ssl\.truststore\.\* holds no certificate in PEM"):
        tls(tmp_path, truststore_type="PEM", truststore_certificates=key).context()


def test_pkcs12_without_its_package_names_the_extra(
    certificates: Certificates, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = tls(tmp_path, **pkcs12_keystore(certificates))
    monkeypatch.setitem(sys.modules, f"{PKCS12}.pkcs12", None)
    monkeypatch.setitem(sys.modules, PKCS12, None)
    with pytest.raises(BadTls, match=r"needs cryptography: pip install 'kwire\[security\]'"):
        found.context()


@pytest.mark.java
async def test_stores_of_keytool_are_read_and_jks_is_converted_by_the_command_that_is_printed(
    certificates: Certificates, tmp_path: Path
) -> None:
    """A truststore of trusted entries, a JKS keystore: what `keytool` itself writes."""
    keytool = str(java().with_name("keytool"))

    def run(*arguments: str, answers: str = "") -> None:
        subprocess.run(
            [keytool, *arguments], input=answers, text=True, check=True, capture_output=True
        )

    authority, trust = str(certificates.authority.path), tmp_path / "trust.p12"
    run(
        *("-importcert", "-noprompt", "-alias", "ca", "-file", authority),
        *("-keystore", str(trust), "-storetype", "PKCS12", "-storepass", "changeit"),
    )
    jks = tmp_path / "client.jks"
    run(
        *("-importkeystore", "-srckeystore", str(certificates.pkcs12("changeit"))),
        *("-srcstorepass", "changeit", "-destkeystore", str(jks), "-deststoretype", "JKS"),
        *("-deststorepass", "changeit"),
    )
    with pytest.raises(InvalidValue) as caught:
        tls(tmp_path, keystore_location=jks)
    command = shlex.split(str(caught.value).split("`")[1])
    assert command[0] == "keytool"
    run(*command[1:], answers="changeit\n" * 3)
    found = tls(
        tmp_path,
        truststore_location=trust,
        truststore_password="changeit",
        keystore_location=jks.with_suffix(".p12"),
        keystore_password="changeit",
    )
    await connect(certificates, found)


def test_a_recording_into_a_topic_gets_stores_as_pem(
    certificates: Certificates, tmp_path: Path
) -> None:
    from confluent_kafka import Producer

    from kwire.net.security import Security

    found = tls(tmp_path, **trusted(certificates), **pkcs12_keystore(certificates))
    properties = librdkafka(Security(tls=found))
    assert properties["ssl.ca.location"] == str(certificates.authority.path)
    assert properties["ssl.certificate.pem"].count("BEGIN CERTIFICATE") == 1
    Producer(properties)  # which reads them


@pytest.mark.parametrize(
    ("suite", "name"),
    [
        ("TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", "ECDHE-RSA-AES256-GCM-SHA384"),
        ("TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-ECDSA-CHACHA20-POLY1305"),
        ("TLS_DHE_RSA_WITH_AES_128_GCM_SHA256", "DHE-RSA-AES128-GCM-SHA256"),
        ("TLS_RSA_WITH_AES_128_CBC_SHA256", "AES128-SHA256"),
        ("TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA", "ECDHE-RSA-AES128-SHA"),
    ],
)
def test_cipher_suites_have_the_names_of_openssl(suite: str, name: str) -> None:
    """Pairs of openssl-ciphers(1)."""
    assert openssl_name(suite) == name


def test_versions_and_ciphers_are_restricted() -> None:
    suite = "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384"
    context = ClientTls(ciphers=(suite,)).context()
    assert context.maximum_version is ssl.TLSVersion.TLSv1_2
    older = {one["name"] for one in context.get_ciphers() if one["protocol"] != "TLSv1.3"}
    assert older == {"ECDHE-RSA-AES256-GCM-SHA384"}
    context = ClientTls(ciphers=("TLS_AES_256_GCM_SHA384",)).context()
    assert context.minimum_version is ssl.TLSVersion.TLSv1_3
    context = ClientTls(protocols=("TLSv1.2", "TLSv1.3")).context()
    assert context.minimum_version is ssl.TLSVersion.TLSv1_2
    assert context.maximum_version is ssl.TLSVersion.TLSv1_3
    with pytest.raises(BadTls, match=r"has none for a version in ssl\.enabled"):
        ClientTls(protocols=("TLSv1.3",), ciphers=(suite,)).context()
    with pytest.raises(BadTls, match="has none that OpenSSL knows: TLS_X_WITH_Y"):
        ClientTls(ciphers=("TLS_X_WITH_Y",)).context()


def test_a_store_hides_what_is_in_it() -> None:
    store = TlsStore(name="keystore", text="s3cret", password="s3cret", key_password="s3cret")
    assert "s3cret" not in repr(store) + repr(store.identity())


async def test_a_node_that_ends_the_handshake_without_a_reason_is_named(
    certificates: Certificates,
) -> None:
    """Kafka closes a connection whose first bytes are no request: to it TLS is none."""

    async def close(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.transport.abort()

    server = await asyncio.start_server(close, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    context = certificates.authority.client()
    with pytest.raises(ConnectionFailed, match=rf"127\.0\.0\.1:{port} ends the TLS handshake: \w"):
        await Connection.open("127.0.0.1", port, ssl=context, connect_timeout=60)
    await stop_accepting(server)
