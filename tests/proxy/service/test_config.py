"""What a service's file says of TLS is what its listeners have."""

from pathlib import Path

import pytest

from kwire.net.tls import ClientTls, ServerTls
from kwire.proxy.service.config import BadConfig, read_config


def listener_of(folder: Path, keys: str) -> str:
    file = folder / "kwire-proxy.yaml"
    file.write_text(f"clusters: [{{listeners: [{{listen: a:1, upstream: b:1, {keys}}}]}}]")
    return str(file)


def test_files_are_those_beside_the_file(tmp_path: Path) -> None:
    keys = (
        "tls: {certificate: proxy.pem, key: /etc/proxy.key, clients: ca.pem},"
        "upstream_tls: {authorities: ca.pem, name: kafka.example, check_name: true}"
    )
    (cluster,) = read_config(Path(listener_of(tmp_path, keys))).clusters
    listener = cluster.listeners[0].listener
    ca = tmp_path / "ca.pem"
    assert listener.tls == ServerTls(
        certificate=tmp_path / "proxy.pem", key=Path("/etc/proxy.key"), clients=ca
    )
    assert listener.upstream_tls == ClientTls(authorities=ca, name="kafka.example")


def test_nothing_said_of_a_nodes_tls_is_what_the_system_trusts(tmp_path: Path) -> None:
    (cluster,) = read_config(Path(listener_of(tmp_path, "upstream_tls: {}"))).clusters
    assert cluster.listeners[0].listener.upstream_tls == ClientTls()
    assert cluster.listeners[0].listener.tls is None


def test_a_list_is_not_called_empty_because_of_what_is_wrong_in_it(tmp_path: Path) -> None:
    file = tmp_path / "kwire-proxy.yaml"
    file.write_text("clusters: [{listenrs: []}]")
    with pytest.raises(BadConfig) as raised:
        read_config(file)
    assert str(raised.value).splitlines() == [
        f"{file}: clusters[1].listeners: this key is needed",
        f"{file}: clusters[1].listenrs: there is no such key here",
    ]


def test_a_certificate_without_a_key_is_wrong(tmp_path: Path) -> None:
    with pytest.raises(BadConfig, match=r"listeners\[1\]\.tls\.key: this key is needed"):
        read_config(Path(listener_of(tmp_path, "tls: {certificate: proxy.pem}")))
