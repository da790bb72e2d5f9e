"""The key log of TLS connections: private, appended, and told of."""

import logging
import ssl
from pathlib import Path

import pytest

from kwire.net.stores import BadTls
from kwire.net.tls import ClientTls, ServerTls
from tests.support.certificates import Authority


def shake_hands(client: ssl.SSLContext, node: ssl.SSLContext) -> None:
    """Let two contexts open a connection in memory."""
    to_node, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    sides = [
        client.wrap_bio(to_client, to_node, server_hostname="localhost"),
        node.wrap_bio(to_node, to_client, server_side=True),
    ]
    while sides:
        side = sides.pop(0)
        try:
            side.do_handshake()
        except ssl.SSLWantReadError:
            sides.append(side)


def test_both_sides_append_to_a_file_that_becomes_private_and_the_user_is_told_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "keys.log"
    path.write_text("# before\n")
    path.chmod(0o644)
    authority = Authority(tmp_path, "ca")
    pem = authority.issue("localhost")
    with caplog.at_level(logging.WARNING):
        node = ServerTls(certificate=pem.certificate, key=pem.key, keys_out=path).context()
        client = ClientTls(authorities=authority.path, keys_out=path).context()
    shake_hands(client, node)
    lines = path.read_text().splitlines()
    randoms = [line.split()[1] for line in lines if line.startswith("CLIENT_TRAFFIC_SECRET_0")]
    assert (lines[0], len(randoms), len(set(randoms))) == ("# before", 2, 1)
    assert path.stat().st_mode & 0o777 == 0o600
    told = [record.getMessage() for record in caplog.records if "decrypt" in record.getMessage()]
    assert [sentence.count(str(path)) for sentence in told] == [1]
    assert not any(line.split()[2] in caplog.text for line in lines if "SECRET" in line)


def test_a_key_log_that_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(BadTls, match=r"cannot write the keys of TLS to .*: Is a directory"):
        ClientTls(keys_out=tmp_path).context()
