"""Security settings in Kafka's client properties, and errors in them."""

from pathlib import Path

import pytest

from kwire.errors import InvalidValue
from kwire.net.sasl import Credentials, Mechanism
from kwire.net.security import PLAINTEXT, Security, read_security
from kwire.net.tls import ClientTls

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


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("security.protocol=TLS", "security.protocol is one of PLAINTEXT, SSL, SASL_PLAINTEXT,"),
        ("security.protocol=SASL_SSL", "sasl.mechanism is GSSAPI, and must be one of PLAIN, SC"),
        ("sasl.mechanism=PLAIN\nsasl.jaas.config=s3cret", "sasl.jaas.config needs security.prot"),
        (SASL, "sasl.jaas.config must be: MODULE required"),
        (SASL + "sasl.jaas.config=M required username=a;", "sasl.jaas.config must be"),
        (SASL + "sasl.jaas.config=M required password=s3cret;", "sasl.jaas.config must be"),
        (SASL + 'sasl.jaas.config=M required username="a password=s3cret;', "a quotation mark"),
        ("security.protocol=SSL\nssl.truststore.location=a.jks", "ssl.truststore.type=PEM"),
        ("security.protocol=SSL\nssl.key.password=s3cret", "ssl.key.password is not supported"),
        ("sasl.oauthbearer.token.endpoint.url=s3cret", "sasl.oauthbearer.token.endpoint.url is"),
    ],
)
def test_what_is_wrong_is_told_by_its_key_and_never_by_its_value(
    tmp_path: Path, text: str, why: str
) -> None:
    with pytest.raises(InvalidValue) as caught:
        said(tmp_path, text)
    told = str(caught.value)
    assert told.startswith(f"{tmp_path / 'client.properties'}: ")
    assert why in told
    assert "s3cret" not in told


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    with pytest.raises(InvalidValue, match=r"cannot read .*: No such file"):
        read_security(tmp_path / "none")
    (tmp_path / "binary").write_bytes(b"\xff")
    with pytest.raises(InvalidValue, match="is no text in UTF-8"):
        read_security(tmp_path / "binary")
