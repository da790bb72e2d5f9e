"""The configuration of a service: the errors of its file, and the TLS of its listeners."""

from pathlib import Path

import pytest

from kwire.net.tls import ClientTls, ServerTls
from kwire.proxy.service.config import BadConfig, read_config


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "kwire-proxy.yaml"


def written(file: Path, text: str) -> Path:
    file.write_text(text)
    return file


def refusal(file: Path, text: str) -> str:
    """Return the error of a file with this text."""
    with pytest.raises(BadConfig) as caught:
        read_config(written(file, text))
    return str(caught.value)


WRONG = {
    "clusters[1].listeners[1].upstream: 'nowhere' is no address": "upstream: nowhere",
    "clusters[1].listeners[1]: the proxy would connect to itself": "upstream: 127.0.0.1:9092",
    "clusters[1].listeners[1].node: Input should be": "upstream: a:1, node: x",
    "clusters[1].listeners[1].node: Input should be less than 2147483648": (
        "upstream: a:1, node: 2147483648"
    ),
    "clusters[1].listeners[1].upstream: a:0 is no port that anybody": "upstream: a:0",
    "clusters[1].listeners[1].nod: there is no such key": "upstream: a:1, nod: 1",
    "clusters[1].listeners[1].upsteam: there is no such key here; is upstream meant?": "upsteam: a",
}


@pytest.mark.parametrize(("said", "keys"), WRONG.items())
def test_what_is_wrong_is_told_by_its_key(file: Path, said: str, keys: str) -> None:
    text = f"clusters: [{{listeners: [{{listen: 127.0.0.1:9092, {keys}}}]}}]"
    told = refusal(file, text)
    assert f"{file}: {said}" in told
    assert "\n" not in told


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("show: {view: ~api Fetsch}", "show.view: column 6: no API is called 'Fetsch'"),
        ("show: {api: [Fetch], no_api: [fetch]}", "show: api and no_api both name Fetch"),
        ("drain: 3", "drain: 3 is not a time such as 200ms or 3s"),
        ("log: {format: xml}", "log.format: Input should be 'text' or 'json'"),
        ("limits: {idle: soon}", "limits.idle: 'soon' is not a time"),
        ("limits: {threads: 1000000000}", "limits.threads: Input should be less than or equal to"),
        ("metrics: 9464", "metrics: 9464 is no address"),
    ],
)
def test_other_keys_are_judged_too(file: Path, more: str, said: str) -> None:
    text = "clusters: [{listeners: [{listen: a:1, upstream: b:1}]}]\n" + more
    assert said in refusal(file, text)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("hold: ~api Vote", "held messages could not be released: give feed as well"),
        ("allowed_nodes: [a]", "allowed_nodes is for rewrite_endpoints or serve"),
        ("rewrite_endpoints: true, allowed_nodes: [7]", "7 allows no addresses"),
        ("advertised_host: here", "advertised_host is for rewrite_endpoints or serve"),
        ("address_file: x", "address_file is for rewrite_endpoints or serve"),
        ("node_ports: 1-2", "node_ports is for rewrite_endpoints or serve"),
        ("rewrite_endpoints: true, node_ports: 9-8", "'9-8' are no ports: write FIRST-LAST"),
        ("rewrite_endpoints: true, serve: {mode: kip919}", "serve tells the proxy's addresses"),
        ("strict: true, rewrite_endpoints: true", "strict is for nodes that advertise the proxy"),
        ("rewrite_endpoints: true", "no client can connect to 0.0.0.0: give advertised_host"),
        ("serve: {mode: metadata}, advertised_host: x", "serve knows nodes by their ids"),
        ("feed: {listen: 0.0.0.0:9900}", "0.0.0.0:9900 is reached from other machines: give token"),
    ],
)
def test_what_needs_another_key_says_so(file: Path, more: str, said: str) -> None:
    text = f"clusters: [{{listeners: [{{listen: 0.0.0.0:1, upstream: b:1}}], {more}}}]"
    assert said in refusal(file, text)


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ("only: ~api Vote", ": give path, topic or both"),
        ("path: here, client_config: c", ": client_config is for topic"),
        ("topic: captures", ".topic: 'captures' is no topic: write TOPIC@HOST:PORT"),
        ("path: here, mode: 640", ".mode: 640 is none of a recording's permissions: 0600, 0640"),
        ("path: here, mode: '0666'", ".mode: '0666' is none of a recording's permissions"),
        ("path: here, mode: all", ".mode: 'all' is none of a recording's permissions"),
        ("topic: t@k:1, mode: 0640", ": mode is for path: give path as well"),
        ("topic: 3", ".topic: 3 is no topic: write TOPIC@HOST:PORT"),
    ],
)
def test_a_recording_goes_into_files_or_into_a_topic(file: Path, keys: str, said: str) -> None:
    text = f"clusters: [{{listeners: [{{listen: a:1, upstream: b:1}}], record: {{{keys}}}}}]"
    assert f"clusters[1].record{said}" in refusal(file, text)


@pytest.mark.parametrize("mode", ["0640", "'0640'", "0o640", "416"])
def test_the_permissions_of_a_recording_are_octal_in_each_of_yamls_forms(
    file: Path, mode: str
) -> None:
    record = f"record: {{path: here, mode: {mode}}}"
    text = f"clusters: [{{listeners: [{{listen: a:1, upstream: b:1}}], {record}}}]"
    (cluster,) = read_config(written(file, text)).clusters
    assert cluster.record is not None
    assert cluster.record.mode == 0o640


def test_several_clusters_have_names_and_addresses_of_their_own(file: Path) -> None:
    one = "listeners: [{listen: a:1, upstream: b:1}]"
    for clusters, said in (
        (f"[{{{one}}}, {{name: x, {one}}}]", "each needs a name"),
        (f"[{{name: x, {one}}}, {{name: x, {one}}}]", "two clusters are called 'x'"),
        (f"[{{name: x, {one}}}, {{name: y, {one}}}]", "two listeners are to listen at a:1"),
    ):
        with pytest.raises(BadConfig, match=said):
            read_config(written(file, f"clusters: {clusters}"))


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
        f"{file}: clusters[1].listenrs: there is no such key here; is listeners meant?",
    ]


def test_a_certificate_without_a_key_is_wrong(tmp_path: Path) -> None:
    with pytest.raises(BadConfig, match=r"listeners\[1\]\.tls\.key: this key is needed"):
        read_config(Path(listener_of(tmp_path, "tls: {certificate: proxy.pem}")))


CERTIFICATE = "upstream_tls: {certificate: proxy.pem, key: proxy.key}"
CLIENTS = "tls: {certificate: proxy.pem, key: proxy.key, clients: ca.pem}"
ASKED = "whoever reaches 0.0.0.0:1 would act with the proxy's certificate"


def lending(file: Path, listen: str, keys: str, more: str = "") -> Path:
    listener = f"{{node: 1, listen: {listen}, upstream: b:1, {keys}}}"
    return written(file, f"clusters: [{{listeners: [{listener}], {more}}}]")


def test_nobody_beyond_loopback_gets_the_proxys_certificate_unasked(file: Path) -> None:
    with pytest.raises(BadConfig, match=ASKED):
        read_config(lending(file, "0.0.0.0:1", CERTIFICATE))
    for path in (
        lending(file, "127.0.0.1:1", CERTIFICATE),
        lending(file, "0.0.0.0:1", f"{CERTIFICATE}, {CLIENTS}"),
        lending(file, "0.0.0.0:1", CERTIFICATE, "lend_rights: true"),
    ):
        (cluster,) = read_config(path).clusters
        (sentence,) = cluster.lending_sentences
        assert sentence.endswith("have the rights of the proxy's certificate")


def test_a_serving_proxy_lends_its_certificate_at_every_listener(file: Path) -> None:
    # What is routed goes over connections that have the certificate of the first listener.
    first, second = (
        f"{{node: {node}, listen: {listen}, upstream: b:1, {keys}}}"
        for node, listen, keys in ((1, "127.0.0.1:1", CERTIFICATE), (2, "0.0.0.0:1", ""))
    )
    serve = "serve: {mode: metadata%s}, advertised_host: proxy"

    def cluster(listeners: str, more: str = "", lends: str = "") -> Path:
        return written(file, f"clusters: [{{listeners: [{listeners}], {serve % more}{lends}}}]")

    with pytest.raises(BadConfig, match=ASKED):
        read_config(cluster(f"{first}, {second}"))
    (lent,) = read_config(cluster(f"{first}, {second}", lends=", lend_rights: true")).clusters
    assert lent.lending_sentences[0].startswith("clients of 127.0.0.1:1, 0.0.0.0:1 have the rights")
    for own in (
        cluster(f"{second}, {first}"),
        cluster(f"{first}, {second}", ", client_config: client.properties"),
    ):
        (other,) = read_config(own).clusters
        assert len(other.lending_sentences) == 1
        assert "0.0.0.0" not in other.lending_sentences[0]


def test_only_rights_that_there_are_can_be_lent(file: Path) -> None:
    with pytest.raises(BadConfig, match="lend_rights has nothing to lend"):
        read_config(lending(file, "127.0.0.1:1", "", "lend_rights: true"))
    with pytest.raises(BadConfig, match="lend_rights has nothing to lend"):
        read_config(lending(file, "127.0.0.1:1", "", "serve: {mode: metadata}, lend_rights: true"))
    serve = "serve: {mode: metadata, client_config: client.properties}"
    (cluster,) = read_config(lending(file, "127.0.0.1:1", "", serve)).clusters
    assert cluster.lending_sentences == ()
    path = lending(file, "127.0.0.1:1", "", f"{serve}, lend_rights: true")
    (cluster,) = read_config(path).clusters
    (sentence,) = cluster.lending_sentences
    assert sentence == "changes that clients make have the rights of the proxy's principal"
