"""What the file of `kwire proxy --config` may say, and what is told where it is wrong."""

import inspect
from pathlib import Path
from typing import Any

import pytest

from kwire.cli import proxy
from kwire.proxy.service.config import BadConfig, ProxyConfig, read_config
from tests.support.cli.command import Command
from tests.support.cli.service_process import GatedNode, listener, service, write

PLACES = {
    "listen": "clusters.listeners",
    "script": "clusters.scripts",
    "rules": "clusters.rules",
    "hold": "clusters.hold",
    "feed": "clusters.feed.listen",
    "feed_token": "clusters.feed.token",
    "rewrite_endpoints": "clusters.rewrite_endpoints",
    "advertised_host": "clusters.advertised_host",
    "strict": "clusters.strict",
    "serve": "clusters.serve.mode",
    "serve_config": "clusters.serve.client_config",
    "cluster_id": "clusters.serve.cluster_id",
    "off_loopback": "clusters.serve.off_loopback",
    "listen_tls": "clusters.listeners.tls.certificate",
    "upstream_tls": "clusters.listeners.upstream_tls.authorities",
    "upstream_name": "clusters.listeners.upstream_tls.name",
    "write": "clusters.record.path",
    "record_topic": "clusters.record.topic",
    "topic_config": "clusters.record.client_config",
    "record": "clusters.record.only",
    "record_limit": "clusters.record.frame_limit",
    "show_secrets": "clusters.record.show_secrets",
    "api": "show.api",
    "no_api": "show.no_api",
    "view": "show.view",
    "verbose": "show.verbose",
    "as_json": "show.json",
    "metrics": "metrics",
    "log_format": "log.format",
}
"""Where an option of the command stands in the file."""

NOT_OF_A_SERVICE = {"context", "config", "read", "since", "until"}


def test_every_option_has_a_place_in_the_file() -> None:
    options = set(inspect.signature(proxy.proxy).parameters) - NOT_OF_A_SERVICE
    assert options == set(PLACES)
    schema = ProxyConfig.model_json_schema(mode="validation")
    for place in PLACES.values():
        assert _has(schema, schema, place.split(".")), place


def _has(schema: dict[str, Any], within: dict[str, Any], path: list[str]) -> bool:
    """Whether a JSON schema has a property, by its path; through lists, references, null or not."""
    if "$ref" in within:
        return _has(schema, schema["$defs"][within["$ref"].rpartition("/")[2]], path)
    if not path:
        return True
    inner = [within["items"]] if "items" in within else within.get("anyOf", [])
    found = within.get("properties", {}).get(path[0])
    if found is not None:
        return _has(schema, found, path[1:])
    return any(_has(schema, one, path) for one in inner)


def refusal(file: Path, text: str) -> str:
    """What is said of a file with this text."""
    with pytest.raises(BadConfig) as caught:
        read_config(write(file, text))
    return str(caught.value)


WRONG = {
    "clusters[1].listeners[1].upstream: 'nowhere' is no address": "upstream: nowhere",
    "clusters[1].listeners[1]: the proxy would connect to itself": "upstream: 127.0.0.1:9092",
    "clusters[1].listeners[1].node: Input should be": "upstream: a:1, node: x",
    "clusters[1].listeners[1].nod: there is no such key": "upstream: a:1, nod: 1",
}


@pytest.mark.parametrize(("said", "keys"), WRONG.items())
def test_what_is_wrong_is_told_by_its_key(file: Path, said: str, keys: str) -> None:
    text = f"clusters: [{{listeners: [{{listen: 127.0.0.1:9092, {keys}}}]}}]"
    assert f"{file}: {said}" in refusal(file, text)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("show: {view: ~api Fetsch}", "show.view: column 6: no API is called 'Fetsch'"),
        ("show: {api: [Fetch], no_api: [fetch]}", "show: api and no_api both name Fetch"),
        ("drain: 3", "drain: 3 is not a time such as 200ms or 3s"),
        ("log: {format: xml}", "log.format: Input should be 'text' or 'json'"),
        ("limits: {idle: soon}", "limits.idle: 'soon' is not a time"),
        ("metrics: 9464", "metrics: 9464 is no address"),
    ],
)
def test_other_keys_are_judged_too(file: Path, more: str, said: str) -> None:
    text = "clusters: [{listeners: [{listen: a:1, upstream: b:1}]}]\n" + more
    assert said in refusal(file, text)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("hold: ~api Vote", "nobody could let go what is held: give feed as well"),
        ("advertised_host: here", "advertised_host is for rewrite_endpoints or serve"),
        ("rewrite_endpoints: true, serve: {mode: kip919}", "serve tells the proxy's addresses"),
        ("strict: true, rewrite_endpoints: true", "strict is for nodes that advertise the proxy"),
        ("rewrite_endpoints: true", "nobody can connect to 0.0.0.0: give advertised_host"),
    ],
)
def test_what_needs_another_key_says_so(file: Path, more: str, said: str) -> None:
    text = f"clusters: [{{listeners: [{{listen: 0.0.0.0:1, upstream: b:1}}], {more}}}]"
    assert f"clusters[1]: {said}" in refusal(file, text)


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ("only: ~api Vote", ": give one of path and topic"),
        ("path: here, topic: there@a:1", ": give one of path and topic"),
        ("path: here, client_config: c", ": client_config is for the cluster of a topic"),
        ("topic: captures", ".topic: 'captures' is no topic: write TOPIC@HOST:PORT"),
        ("topic: 3", ".topic: 3 is no topic: write TOPIC@HOST:PORT"),
    ],
)
def test_what_is_recorded_goes_into_files_or_into_a_topic(file: Path, keys: str, said: str) -> None:
    text = f"clusters: [{{listeners: [{{listen: a:1, upstream: b:1}}], record: {{{keys}}}}}]"
    assert f"clusters[1].record{said}" in refusal(file, text)


def test_several_clusters_have_names_and_addresses_of_their_own(file: Path) -> None:
    one = "listeners: [{listen: a:1, upstream: b:1}]"
    for clusters, said in (
        (f"[{{{one}}}, {{name: x, {one}}}]", "each needs a name"),
        (f"[{{name: x, {one}}}, {{name: x, {one}}}]", "two clusters are called 'x'"),
        (f"[{{name: x, {one}}}, {{name: y, {one}}}]", "two listeners are to listen at a:1"),
    ):
        with pytest.raises(BadConfig, match=said):
            read_config(write(file, f"clusters: {clusters}"))


def test_a_file_that_cannot_be_used_and_options_beside_it_are_wrong_usage(
    kwire: Command, file: Path
) -> None:
    assert kwire("proxy", "--config", str(file)).code == 2
    run = kwire("proxy", "--config", str(write(file, "clusters: 3")), "--metrics", "a:1")
    assert (run.code, run.error) == (
        2,
        "--config excludes --metrics: the file has a place for what it says.",
    )


def test_rules_that_are_wrong_are_told_before_anything_listens(
    kwire: Command, gated_node: GatedNode, file: Path
) -> None:
    write(file.with_name("rules.yaml"), "rules: [{match: ~api Vote}]")
    run = kwire(
        "proxy",
        "--config",
        str(write(file, service(listener(gated_node.address), rules="rules.yaml"))),
    )
    assert run.code == 1
    assert "rules.yaml: rules[1]: nothing is to happen" in run.error
    assert "listening" not in run.err
