"""Files that run code or direct traffic are refused if another user could change them."""

import asyncio
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kwire import permissions
from kwire.cli.errors import WrongUsage
from kwire.cli.profiles import read_profiles
from kwire.cli.secret_input import read_secret
from kwire.controller.server.config.node_config import NodeConfig
from kwire.errors import InvalidValue
from kwire.net.security import read_security
from kwire.net.token_sources import TokenFile
from kwire.proxy.filters.rules import load_rules
from kwire.proxy.filters.script import load
from kwire.proxy.service.config import read_config
from kwire.proxy.service.feed import read_token
from kwire.testing.local_kafka.errors import JarsNotFound
from kwire.testing.local_kafka.jars import MANIFEST, artifact
from tests.support.file_permissions import reachable_folder, umask

COMMAND = (
    "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=OAUTHBEARER\n"
    "kwire.oauthbearer.token.command=/usr/local/bin/token\n"
)
PASSWORD = (
    "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n"
    'sasl.jaas.config=PlainLoginModule required username="a" password="b";\n'
)
NODE = "listener.name.controller.oauthbearer.kwire.oauthbearer.token.command=/bin/token\n"

Read = Callable[[Path], object]

READERS: dict[str, tuple[Read, str]] = {
    "script": (load, "from kwire.proxy import Filter\nclass Nothing(Filter): pass\n"),
    "rules": (load_rules, "rules: []"),
    "configuration": (read_config, "clusters: [{listeners: [{listen: a:1, upstream: b:1}]}]"),
    "profiles": (read_profiles, ""),
    "token of a feed": (read_token, "0123456789abcdef0123456789abcdef"),
    "properties with a command": (read_security, COMMAND),
}
"""A reader and a text that is right for it, by the kind of file."""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    folder = tmp_path / "folder"
    folder.mkdir(0o755)
    return folder / "file"


@pytest.mark.parametrize(("read", "text"), READERS.values(), ids=READERS)
def test_what_others_may_write_is_refused_with_the_remedy(
    file: Path, read: Read, text: str
) -> None:
    file.write_text(text)
    read(file)
    file.chmod(0o666)
    with pytest.raises((InvalidValue, WrongUsage), match=rf"chmod go-w {file}"):
        read(file)
    file.chmod(0o644)
    file.parent.chmod(0o777)
    with pytest.raises((InvalidValue, WrongUsage), match=rf"chmod go-w {file.parent}"):
        read(file)
    file.parent.chmod(0o1777)
    read(file)


def test_a_script_that_others_may_write_does_not_run(file: Path) -> None:
    ran = file.with_name("ran")
    file.write_text(f"open({str(ran)!r}, 'w')")
    file.chmod(0o646)
    with pytest.raises(InvalidValue, match="the script is not run: "):
        load(file)
    assert not ran.exists()


def test_the_command_of_a_node_is_not_run_either(file: Path) -> None:
    file.write_text(NODE)
    file.chmod(0o666)
    with pytest.raises(InvalidValue, match=r"token\.command is not run: .*chmod go-w"):
        NodeConfig.read(file)


def test_properties_without_a_command_may_be_a_groups(file: Path) -> None:
    file.write_text(PASSWORD)
    file.chmod(0o660)
    assert read_security(file).sasl is not None


def test_jars_that_others_may_replace_are_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KWIRE_CACHE", str(tmp_path))
    jars = tmp_path / "jars" / "a+b+1"
    jars.mkdir(parents=True)
    (jars / MANIFEST).write_text("{}")
    assert artifact("a:b:1") == []
    for folder in (jars, jars.parent, tmp_path):
        folder.chmod(0o777)
        remedy = re.escape(f"chmod go-w {folder}, or name another KWIRE_CACHE")
        with pytest.raises(JarsNotFound, match=remedy):
            artifact("a:b:1")
        folder.chmod(0o755)


@pytest.fixture
def reached(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A file that every user of the machine can read."""
    monkeypatch.setattr(permissions, "_warned", set())
    with reachable_folder() as folder:
        file = folder / "secret"
        file.touch()
        file.chmod(0o644)
        yield file


SECRETS: dict[str, tuple[Callable[[Path], object], str]] = {
    "properties": (read_security, PASSWORD),
    "token of a feed": (read_token, "0123456789abcdef0123456789abcdef"),
    "password": (lambda path: read_secret(path, "password", "--password-file"), "sesame"),
    "bearer token": (lambda path: asyncio.run(TokenFile(path).fetch()), "token"),
}


@pytest.mark.parametrize(("read", "text"), SECRETS.values(), ids=SECRETS)
def test_a_secret_that_every_user_can_read_is_warned_of_once(
    reached: Path, caplog: pytest.LogCaptureFixture, read: Read, text: str
) -> None:
    reached.write_text(text)
    for _ in range(2):
        read(reached)
    said = f"{reached} holds secrets, and every user of this machine can read it"
    assert caplog.messages == [f"{said}: chmod o-r {reached}"]


@pytest.mark.parametrize(
    ("text", "mode"),
    [(PASSWORD, 0o640), (PASSWORD, 0o600), ("security.protocol=SSL\n", 0o644)],
    ids=["of a group, as Kafka's often are", "private", "without a secret"],
)
def test_other_properties_are_not_warned_of(
    reached: Path, caplog: pytest.LogCaptureFixture, text: str, mode: int
) -> None:
    reached.write_text(text)
    reached.chmod(mode)
    read_security(reached)
    assert caplog.messages == []


@pytest.mark.parametrize("mask", [0o000, 0o077])
def test_a_file_that_an_editor_saves_is_trusted_by_the_umask(tmp_path: Path, mask: int) -> None:
    path = tmp_path / "rules.yaml"
    with umask(mask):
        path.write_text("rules: []")
    assert (permissions.changeable_by_others(path) is None) is (mask == 0o077)
