"""Security settings in Kafka's client properties, and errors in them."""

from pathlib import Path

import pytest

from kwire.errors import InvalidValue
from kwire.net.sasl import Credentials, Mechanism
from kwire.net.sasl_properties import SASL_KNOWN
from kwire.net.security import PLAINTEXT, Security, read_bootstrap, read_security
from kwire.net.stores import TlsStore
from kwire.net.tls import ClientTls
from kwire.net.tls_properties import TLS_KNOWN
from kwire.net.token_sources import TokenCommand, TokenEndpoint, TokenFile
from tests.support.paths import ROOT

LOGIN = "org.apache.kafka.common.security.scram.ScramLoginModule"


def said(folder: Path, text: str) -> Security:
    file = folder / "client.properties"
    file.write_text(text)
    return read_security(file)


def alice(password: str) -> Credentials:
    return Credentials(mechanism=Mechanism.SCRAM_SHA_512, username="alice", password=password)


@pytest.mark.parametrize(
    ("options", "password"),
    [
        ('username="alice" password="pw";', "pw"),
        ("username='alice' password='p w;x';", "p w;x"),
        ("username=alice password=pw ;", "pw"),
        ('\\\n  username="alice" \\\n  password="p=#w";', "p=#w"),
        ('username="alice" password="p\\\\"w";', 'p"w'),
    ],
)
def test_sasl(tmp_path: Path, options: str, password: str) -> None:
    text = "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=SCRAM-SHA-512\n"
    found = said(tmp_path, f"{text}sasl.jaas.config={LOGIN} required {options}\nclient.id=me")
    assert found == Security(sasl=alice(password))
    assert found.protocol == "SASL_PLAINTEXT"
    assert password not in repr(found)


def test_tls(tmp_path: Path) -> None:
    text = "security.protocol=ssl\nssl.truststore.type=PEM\nssl.truststore.location=/ca.pem\n"
    found = said(tmp_path, text)
    assert found == Security(tls=ClientTls(authorities=Path("/ca.pem")))
    text += "ssl.keystore.type=pem\nssl.keystore.location=me.pem\n"
    found = said(tmp_path, text + "ssl.endpoint.identification.algorithm=\n")
    assert found.tls == ClientTls(
        authorities=Path("/ca.pem"), certificate=Path("me.pem"), check_name=False
    )
    assert found.protocol == "SSL"
    assert said(tmp_path, "security.protocol=SSL") == Security(tls=ClientTls())


def test_nothing_is_plaintext_as_in_kafka(tmp_path: Path) -> None:
    assert said(tmp_path, "bootstrap.servers=a:9092\nrequest.timeout.ms=1") == PLAINTEXT
    assert PLAINTEXT.protocol == "PLAINTEXT"


SASL = "security.protocol=SASL_SSL\nsasl.mechanism=PLAIN\n"
SSL = "# TLS\nsecurity.protocol=SSL\n"
BEARER = "security.protocol=SASL_SSL\nsasl.mechanism=OAUTHBEARER\n"
URL = "sasl.oauthbearer.token.endpoint.url"


@pytest.mark.parametrize(
    ("text", "line", "why"),
    [
        ("security.protocol=TLS", 1, "security.protocol is one of PLAINTEXT, SSL, SASL_PLAINTEXT,"),
        ("security.protocol=SASL_SSL", None, "sasl.mechanism is GSSAPI, and must be one of PLAIN"),
        ("\n\nsecurity.protocol=SASL_SSL\nsasl.mechanism=X", 4, "sasl.mechanism is X, and must be"),
        (
            "sasl.mechanism=PLAIN\nsasl.jaas.config=s3cret",
            2,
            "sasl.jaas.config needs security.prot",
        ),
        (SASL, None, "sasl.jaas.config must be: MODULE required"),
        (SASL + "sasl.jaas.config=M required username=a;", 3, "sasl.jaas.config must be"),
        (
            SASL + "sasl.jaas.config=M \\\n required \\\n password=s3cret;",
            3,
            "must be: MODULE requ",
        ),
        (SASL + 'sasl.jaas.config=M required username="a password=s3cret;', 3, "a quotation mark"),
        (SSL + "ssl.engine.factory.class=s3cret", 3, "ssl.engine.factory.class is not supported"),
        (SSL + "kwire.token=s3cret", 3, "kwire.token is not supported"),
        (SSL + "ssl.truststore.type=BKS\nssl.truststore.location=a", 3, "is one of PEM, PKCS12"),
        (SSL + "ssl.keystore.location=none.p12", 3, "none.p12 cannot be read: No such file"),
        (
            SSL + "ssl.keystore.type=PEM\nssl.keystore.location=a\nssl.keystore.password=s3cret",
            5,
            "ssl.keystore.password is not for stores in PEM: leave it out, and write ssl.key.pass",
        ),
        (SSL + "ssl.truststore.certificates=s3cret", 3, "set ssl.truststore.type=PEM"),
        (
            SSL + "ssl.keystore.type=PEM\nssl.keystore.key=s3cret",
            4,
            "either ssl.keystore.location or ssl.keystore.key with ssl.keystore.certificate.chain",
        ),
        (
            SSL + "ssl.truststore.type=PEM\nssl.truststore.certificates=s3cret",
            4,
            "ssl.truststore.certificates has no PEM block",
        ),
        (SSL + "ssl.enabled.protocols=TLSv1,TLSv1.1", 3, "has none of TLSv1.2, TLSv1.3"),
        (SSL + "ssl.endpoint.identification.algorithm=LDAPS", 3, "is https, or empty to accept"),
        (BEARER, 2, f"OAUTHBEARER needs {URL} or kwire.oauthbearer.token.command, and there is ne"),
        (BEARER + f"{URL}=file:/a\nkwire.oauthbearer.token.command=s3cret", 4, "there is both"),
        (BEARER + "kwire.oauthbearer.token.command=s3cret 'x", 3, "a program and its arguments"),
        (
            BEARER + f"{URL}=https://a/s3cret",
            3,
            f"{URL} needs sasl.oauthbearer.client.credentials.",
        ),
        (
            BEARER + f"{URL}=http://idp/t\nsasl.jaas.config=M required clientId=a"
            " clientSecret=s3cret;",
            3,
            "the token endpoint http://idp/t would get the client's secret unencrypted: write"
            " https:, or kwire.oauthbearer.allow.http=true",
        ),
        (BEARER + f"{URL}=ftp://a/s3cret", 3, "must be a URL of https:, http: or file:"),
        (BEARER + f"{URL}=https://a:s3cret@b/", 3, "must be a URL of https:, http: or file:"),
        (BEARER + f"{URL}=https://a:x/s3cret", 3, "must be a URL of https:, http: or file:"),
        (
            BEARER + "sasl.login.callback.handler.class=com.x.Mine",
            3,
            "sasl.login.callback.handler.class is a Java class that kwire does not stand in for",
        ),
        (
            BEARER + f'{URL}=file:/t\nsasl.jaas.config=M required extension_auth="s3cret";',
            4,
            "a name of letters other than auth",
        ),
        (
            BEARER
            + f"{URL}=https://a/t\nsasl.jaas.config=M required clientId=a clientSecret=s3cret"
            " ssl.truststore.location=none.p12;",
            4,
            "sasl.jaas.config: ssl.truststore.location: none.p12 cannot be read",
        ),
    ],
)
def test_a_mistake_is_named_by_file_line_and_property_and_never_by_a_secret(
    tmp_path: Path, text: str, line: int | None, why: str
) -> None:
    with pytest.raises(InvalidValue) as caught:
        said(tmp_path, text)
    told = str(caught.value)
    at = "" if line is None else f":{line}"
    assert told.startswith(f"{tmp_path / 'client.properties'}{at}: ")
    assert why in told
    assert "s3cret" not in told


def test_java_s_own_stores_are_refused_with_the_command_that_converts_them(tmp_path: Path) -> None:
    """The first bytes are those of a JKS keystore (JavaKeyStore.MAGIC)."""
    store = tmp_path / "my store.jks"
    store.write_bytes(bytes.fromhex("feedfeed 00000002"))
    with pytest.raises(InvalidValue) as caught:
        said(tmp_path, SSL + f"ssl.keystore.location={store}")
    converted = tmp_path / "my store.p12"
    assert (
        f"`keytool -importkeystore -srckeystore '{store}' -destkeystore '{converted}'"
        " -deststoretype PKCS12`, and set ssl.keystore.location="
        f"{converted} and ssl.keystore.type=PKCS12" in str(caught.value)
    )


def test_pem_without_its_type_is_named(tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text("-----BEGIN CERTIFICATE-----")
    with pytest.raises(InvalidValue, match=r"no PKCS12; for PEM set ssl\.truststore"):
        said(tmp_path, SSL + f"ssl.truststore.location={tmp_path / 'ca.pem'}")


def test_stores_in_pkcs12_need_no_type_and_show_no_password(tmp_path: Path) -> None:
    """Java reads them as its default type JKS."""
    store = tmp_path / "a.p12"
    store.write_bytes(b"\x30\x82")
    found = said(tmp_path, SSL + f"ssl.keystore.location={store}\nssl.keystore.password=s3cret")
    assert found.tls == ClientTls(
        keystore=TlsStore(name="keystore", path=store, is_pkcs12=True, password="s3cret")
    )
    assert "s3cret" not in repr(found)


def test_versions_and_ciphers_are_read(tmp_path: Path) -> None:
    text = "ssl.enabled.protocols=TLSv1.1, TLSv1.2\nssl.cipher.suites=A_WITH_B,C\n"
    tls = said(tmp_path, SSL + text + "ssl.provider=X\nssl.protocol=TLSv1.3").tls
    assert tls == ClientTls(protocols=("TLSv1.2",), ciphers=("A_WITH_B", "C"))


def test_a_delegation_token_is_a_user_of_scram(tmp_path: Path) -> None:
    text = "security.protocol=SASL_SSL\nsasl.mechanism=SCRAM-SHA-256\nsasl.jaas.config="
    found = said(tmp_path, text + f'{LOGIN} required username=id password=mac tokenauth="true";')
    assert found.sasl == Credentials(
        mechanism=Mechanism.SCRAM_SHA_256,
        username="id",
        password="mac",
        is_delegation_token=True,
    )


MODULE = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required"


def bearer_of(found: Security) -> object:
    assert found.sasl is not None
    assert found.sasl.tokens is not None
    assert "s3cret" not in repr(found) + str(found.sasl.tokens.source)
    return found.sasl.tokens.source


def test_a_token_endpoint_is_read_from_the_login_module_or_from_properties(tmp_path: Path) -> None:
    """Kafka 4.1 has the properties, and they go first."""
    options = 'clientId="jaas" clientSecret="s3cret" scope="a b" extension_x="y";'
    text = BEARER + f"{URL}=https://idp/token\nsasl.jaas.config={MODULE} {options}\n"
    found = said(tmp_path, text)
    assert bearer_of(found) == TokenEndpoint(
        url="https://idp/token", client_id="jaas", client_secret="s3cret", scope="a b"
    )
    assert found.sasl is not None
    assert (found.sasl.username, found.sasl.extensions) == ("jaas", (("x", "y"),))
    prefix = "sasl.oauthbearer.client.credentials.client"
    text += f"{prefix}.id=me\n{prefix}.secret=s3cret2\nsasl.oauthbearer.scope=c\n"
    text += "sasl.oauthbearer.header.urlencode=true\n"
    assert bearer_of(said(tmp_path, text)) == TokenEndpoint(
        url="https://idp/token",
        client_id="me",
        client_secret="s3cret2",
        scope="c",
        is_urlencoded=True,
    )


# RFC 6749, 2.3.1: "The authorization server MUST require the use of TLS".
@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:8080", "[::1]"])
def test_a_token_endpoint_without_tls_is_on_this_machine(tmp_path: Path, host: str) -> None:
    login = f"sasl.jaas.config={MODULE} clientId=a clientSecret=b;\n"
    text = BEARER + login + f"{URL}=http://{host}/token\n"
    source = bearer_of(said(tmp_path, text))
    assert isinstance(source, TokenEndpoint)
    assert not source.allow_http
    elsewhere = text.replace(host, "idp") + "kwire.oauthbearer.allow.http=true\n"
    assert bearer_of(said(tmp_path, elsewhere)) == TokenEndpoint(
        url="http://idp/token", client_id="a", client_secret="b", allow_http=True
    )


def test_the_tls_of_a_token_endpoint_is_that_of_the_login_module(tmp_path: Path) -> None:
    options = "clientId=a clientSecret=b ssl.truststore.type=PEM ssl.truststore.location=/idp.pem;"
    text = BEARER + f"{URL}=https://idp/token\nsasl.jaas.config={MODULE} {options}\n"
    source = bearer_of(said(tmp_path, text + "ssl.truststore.type=PEM\nssl.truststore.location=/k"))
    assert isinstance(source, TokenEndpoint)
    assert source.tls == ClientTls(authorities=Path("/idp.pem"))


def test_a_token_comes_from_a_file_or_a_command(tmp_path: Path) -> None:
    text = BEARER + "sasl.oauthbearer.jwt.retriever.class=org.apache.kafka.x.FileJwtRetriever\n"
    found = said(tmp_path, text + f"{URL}=file:///var/run/my%20token")
    assert bearer_of(found) == TokenFile(Path("/var/run/my token"))
    found = said(
        tmp_path, BEARER + "kwire.oauthbearer.token.command=get-token --secret 's3 s3cret'"
    )
    assert bearer_of(found) == TokenCommand(arguments=("get-token", "--secret", "s3 s3cret"))


def test_addresses_of_a_file_are_read_of_one_kind(tmp_path: Path) -> None:
    file = tmp_path / "client.properties"
    file.write_text("bootstrap.controllers=c:9093\nbootstrap.servers=\n")
    assert read_bootstrap(file) == (None, "c:9093")
    file.write_text("bootstrap.servers=b:9092\n\nbootstrap.controllers=c:9093")
    with pytest.raises(InvalidValue, match=r"client.properties:3: bootstrap.controllers and boot"):
        read_bootstrap(file)
    assert read_security(file) == PLAINTEXT


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    with pytest.raises(InvalidValue, match=r"cannot read .*: No such file"):
        read_security(tmp_path / "none")
    (tmp_path / "binary").write_bytes(b"\xff")
    with pytest.raises(InvalidValue, match="is no text in UTF-8"):
        read_security(tmp_path / "binary")


def test_the_page_names_every_property() -> None:
    page = (ROOT / "docs" / "operators" / "security.md").read_text()
    java = {"sasl.login.callback.handler.class", "sasl.oauthbearer.jwt.retriever.class"}
    missing = {name for name in (TLS_KNOWN | SASL_KNOWN) - java if name not in page}
    assert not missing
