"""The options of `kwire proxy` build the configuration that a file would have."""

import inspect
from pathlib import Path
from typing import Any

import pytest

from kwire.cli.proxy import commands
from kwire.net.address import Address
from kwire.proxy.capture.record_topic import TopicAddress
from kwire.proxy.data_path.allowed_nodes import AddressRule
from kwire.proxy.service.config import ProxyConfig
from tests.support.cli.command import Command

LISTEN = ("--listen", "1@127.0.0.1:19092=broker-1:9092")
FEED = ("--feed", "127.0.0.1:9900")
SERVE = ("--serve", "metadata")
WRITE = ("-w", "traffic.avro")
TOPIC = ("--record-topic", "captures@kafka:9092")
UPSTREAM_TLS = ("--upstream-tls", "ca.pem,a.pem,a.key")

PLACES: dict[str, tuple[tuple[str, ...], str, object]] = {
    "listen": ((), "clusters.0.listeners.0.upstream", Address("broker-1", 9092)),
    "script": (("--script", "a.py", "--script", "b.py"), "clusters.0.scripts.1", Path("b.py")),
    "rules": (("--rules", "slow.yaml"), "clusters.0.rules", Path("slow.yaml")),
    "hold": (("--hold", "~api Vote"), "clusters.0.hold", "~api Vote"),
    "feed": (FEED, "clusters.0.feed.listen", Address("127.0.0.1", 9900)),
    "feed_token": ((*FEED, "--feed-token", "token"), "clusters.0.feed.token", Path("token")),
    "rewrite_endpoints": (("--rewrite-endpoints",), "clusters.0.rewrite_endpoints", True),
    "advertised_host": (
        ("--rewrite-endpoints", "--advertised-host", "here"),
        "clusters.0.advertised_host",
        "here",
    ),
    "allowed_nodes": (
        ("--rewrite-endpoints", "--allowed-nodes", "a:1", "--allowed-nodes", "*.b:9092-9094"),
        "clusters.0.allowed_nodes.1",
        AddressRule("*.b", range(9092, 9095)),
    ),
    "address_file": (
        ("--rewrite-endpoints", "--address-file", "given.yaml"),
        "clusters.0.address_file",
        Path("given.yaml"),
    ),
    "node_ports": (
        ("--rewrite-endpoints", "--node-ports", "19200-19299"),
        "clusters.0.node_ports",
        range(19200, 19300),
    ),
    "strict": (("--strict",), "clusters.0.strict", True),
    "serve": (SERVE, "clusters.0.serve.mode", "metadata"),
    "serve_config": ((*SERVE, "--serve-config", "c"), "clusters.0.serve.client_config", Path("c")),
    "cluster_id": ((*SERVE, "--cluster-id", "x"), "clusters.0.serve.cluster_id", "x"),
    "off_loopback": ((*SERVE, "--off-loopback"), "clusters.0.serve.off_loopback", True),
    "listen_tls": (
        ("--listen-tls", "a.pem,a.key"),
        "clusters.0.listeners.0.tls.certificate",
        Path("a.pem"),
    ),
    "upstream_tls": (UPSTREAM_TLS, "clusters.0.listeners.0.upstream_tls.key", Path("a.key")),
    "tls_keys_out": (
        (*UPSTREAM_TLS, "--tls-keys-out", "keys.log"),
        "clusters.0.listeners.0.upstream_tls.keys_out",
        Path("keys.log"),
    ),
    "upstream_name": (
        (*UPSTREAM_TLS, "--upstream-name", "kafka"),
        "clusters.0.listeners.0.upstream_tls.name",
        "kafka",
    ),
    "lend_rights": ((*UPSTREAM_TLS, "--lend-rights"), "clusters.0.lend_rights", True),
    "otlp": (("--otlp", "http://a:4318"), "clusters.0.otlp", "http://a:4318/v1/traces"),
    "write": (WRITE, "clusters.0.record.path", Path("traffic.avro")),
    "record_topic": (
        (*WRITE, *TOPIC),
        "clusters.0.record.topic",
        TopicAddress("captures", (Address("kafka", 9092),)),
    ),
    "topic_config": (
        (*TOPIC, "--topic-config", "c"),
        "clusters.0.record.client_config",
        Path("c"),
    ),
    "record": ((*WRITE, "--record", "~api Vote"), "clusters.0.record.only.needs_response", False),
    "recording_mode": (
        (*WRITE, "--recording-mode", "0640"),
        "clusters.0.record.mode",
        0o640,
    ),
    "record_limit": ((*WRITE, "--record-limit", "9"), "clusters.0.record.frame_limit", 9),
    "show_secrets": ((*WRITE, "--show-secrets"), "clusters.0.record.show_secrets", True),
    "api": (("--api", "fetch"), "show.api", ("Fetch",)),
    "no_api": (("--no-api", "fetch"), "show.no_api", ("Fetch",)),
    "view": (("--view", "~api Vote"), "show.view.needs_response", False),
    "verbose": (("-v",), "show.verbose", True),
    "as_json": (("--json",), "show.as_json", True),
    "metrics": (("--metrics", "a:1"), "metrics", Address("a", 1)),
    "log_format": (("--log-format", "json"), "log.form", "json"),
}
"""For each option: how it is given, and where the configuration has which value then."""

NOT_OF_A_SERVICE = {"context", "config", "check", "read", "since", "until"}


@pytest.fixture
def configs(monkeypatch: pytest.MonkeyPatch) -> list[ProxyConfig]:
    """The configurations that would have been run."""
    built: list[ProxyConfig] = []
    monkeypatch.setattr("kwire.cli.proxy.run.run_options", built.append)
    return built


def value(config: ProxyConfig, place: str) -> Any:
    found: Any = config
    for key in place.split("."):
        found = found[int(key)] if key.isdecimal() else getattr(found, key)
    return found


def test_every_option_has_a_place() -> None:
    assert set(inspect.signature(commands.proxy).parameters) - NOT_OF_A_SERVICE == set(PLACES)


def test_an_option_is_the_value_of_a_key(
    kwire: Command, configs: list[ProxyConfig], subtests: pytest.Subtests
) -> None:
    for option, (arguments, place, expected) in PLACES.items():
        with subtests.test(option):
            configs.clear()
            run = kwire("proxy", *LISTEN, *arguments)
            assert run.code == 0, run.err
            assert value(configs[0], place) == expected


def test_without_options_all_is_shown_and_nothing_logged(
    kwire: Command, configs: list[ProxyConfig]
) -> None:
    assert kwire("proxy", *LISTEN).code == 0
    (config,) = configs
    (cluster,) = config.clusters
    assert config.show is not None
    assert (config.log, config.metrics) == (None, None)
    assert (cluster.record, cluster.feed, cluster.serve) == (None, None, None)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--metrics", "a"), "--metrics: 'a' is no address: write host:port"),
        (("--feed", "a"), "--feed: 'a' is no address: write host:port"),
        (
            ("--rewrite-endpoints", "--listen", "0.0.0.0:1=a:9092"),
            "no client can connect to 0.0.0.0: give --advertised-host as well.",
        ),
        (
            (*SERVE, "--listen", "127.0.0.1:1=a:9092"),
            "--serve knows nodes by their ids: give ID@ at 127.0.0.1:1.",
        ),
        (("--advertised-host", "a"), "--advertised-host is for --rewrite-endpoints or --serve: "),
        (("--allowed-nodes", "a"), "--allowed-nodes is for --rewrite-endpoints or --serve: "),
        ((*SERVE, "--allowed-nodes", "10.0.0.1/8"), "--allowed-nodes: '10.0.0.1/8' allows no "),
        (LISTEN, "two listeners are to listen at 127.0.0.1:19092."),
    ],
)
def test_mistakes_are_told_in_words_of_the_options(
    kwire: Command, arguments: tuple[str, ...], sentence: str
) -> None:
    run = kwire("proxy", *LISTEN, *arguments)
    assert run.code == 2
    assert run.error.startswith(sentence)
