"""The login of Kafka's nodes to ZooKeeper: a section of a JAAS file (JaasUtils)."""

from __future__ import annotations

from pathlib import Path

import pytest

from kwire.text.properties import WrongProperty
from kwire.zookeeper.sasl_login import SaslLogin
from kwire.zookeeper.settings import ZooKeeperSettings

MODULE = "org.apache.zookeeper.server.auth.DigestLoginModule required"
LOGIN = f'{MODULE} username="kafka" password="s3cr3t";'
FILE = f"Client {{ {LOGIN} }};\nOther {{ {MODULE} username=other password=s3cr3t; }};\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "jaas.conf"
    path.write_text(FILE)
    return path


def settings(file: Path, **pairs: str) -> ZooKeeperSettings:
    """Return the settings of ZooKeeper with a JAAS file; `_` in names stands for a point."""
    named = {name.replace("_", "."): value for name, value in pairs.items()}
    base = {"zookeeper.connect": "zk:1", "java.security.auth.login.config": str(file)}
    return ZooKeeperSettings.from_properties(base | named)


def test_the_section_client_is_the_login(file: Path) -> None:
    found = settings(file, zookeeper_set_acl="true")
    assert found.sasl == SaslLogin(username="kafka", password="s3cr3t", source="")
    assert found.sasl.source == f"section Client of {file}"
    assert found.set_acl
    assert "s3cr3t" not in repr(found)


def test_another_section_can_be_named_and_the_login_left_out(file: Path) -> None:
    other = settings(file, zookeeper_sasl_clientconfig="Other").sasl
    assert other is not None
    assert other.username == "other"
    assert settings(file, zookeeper_sasl_client="false").sasl is None


WRONG = [
    ("Server {};", {}, "{file} has no section Client: zookeeper.sasl.clientconfig names another"),
    (
        "Client { com.sun.security.auth.module.Krb5LoginModule required useKeyTab=true; };",
        {},
        "section Client of {file} is a login by Kerberos (GSSAPI), which kwire does not have",
    ),
    (
        f"Client {{ {MODULE} username=s3cr3t; }};",
        {},
        'section Client of {file} must be: DigestLoginModule required username="NAME"'
        ' password="PASSWORD";',
    ),
    (f"Client {{ {MODULE} username=k password=s3cr3tл; }};", {}, "section Client of {file} has a"),
    (f"Client {{ {MODULE} username=ké password=s3cr3t; }};", {}, "section Client of {file} has a"),
    (f'Client {{ {MODULE} password="s3cr3t; }};', {}, "java.security.auth.login.config has a quo"),
    (FILE, {"kwire_zookeeper_digest": "a:s3cr3t"}, "give kwire.zookeeper.digest or java.security."),
]


@pytest.mark.parametrize(("text", "pairs", "sentence"), WRONG, ids=range(len(WRONG)))
def test_a_wrong_login_is_one_sentence_without_secrets(
    file: Path, text: str, pairs: dict[str, str], sentence: str
) -> None:
    file.write_text(text)
    with pytest.raises(WrongProperty) as refused:
        settings(file, **pairs)
    expected = sentence.format(file=file)
    assert str(refused.value).removeprefix("java.security.auth.login.config: ").startswith(expected)
    assert "s3cr3t" not in str(refused.value)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    missing = tmp_path / "none.conf"
    with pytest.raises(WrongProperty, match=r"login.config: cannot read .*none.conf: No such file"):
        settings(missing)


def test_acls_of_nobody_are_refused_as_by_kafka() -> None:
    """KafkaZkClient.createZkClient."""
    pairs = {"zookeeper.connect": "zk:1", "zookeeper.set.acl": "true"}
    with pytest.raises(WrongProperty, match=r"zookeeper.set.acl is true, which needs a login"):
        ZooKeeperSettings.from_properties(pairs)
