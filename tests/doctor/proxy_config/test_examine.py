"""The checks of a proxy's configuration: each kind is found, and its own advice heals it."""

from __future__ import annotations

import base64
import re
import subprocess
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest
import trustme
import yaml

from kwire.doctor.finding import FindingVerdict
from kwire.doctor.proxy_config.examine import KINDS, examine
from kwire.doctor.proxy_config.weakness import Weakness
from kwire.proxy.service.config import parse_config
from tests.support.certificates import Authority
from tests.support.file_permissions import reachable_folder

NODE = {"listen": "127.0.0.1:19092", "upstream": "127.0.0.1:9092", "node": 1}
FAR = {**NODE, "upstream": "broker-1:9092"}
OPEN = {**NODE, "listen": "0.0.0.0:19092"}
TLS = {"certificate": "proxy.pem", "key": "proxy.key"}
MUTUAL = {**TLS, "clients": "ca.pem"}
UPSTREAM = {"authorities": "ca.pem"}
TOKEN = "e1c7afab5fb0ae2bd8a4b8ddea0bd4c9"  # nobody's; made for this test


def service(listener: dict[str, Any], show: dict[str, Any] | None = None, **cluster: Any) -> Any:
    """Return the document of a service with one cluster of one listener."""
    document: dict[str, Any] = {"clusters": [{"listeners": [listener], **cluster}]}
    return document if show is None else {**document, "show": show}


def feed(**keys: str) -> Any:
    return service(NODE, feed={"listen": "127.0.0.1:9900", **keys})


def served(properties: str, listener: dict[str, Any] = FAR, **cluster: Any) -> Any:
    tls = {} if listener is NODE else {"tls": TLS, "upstream_tls": UPSTREAM}
    serve = {"mode": "metadata", "client_config": properties}
    return service({**listener, **tls}, serve=serve, **cluster)


def rewriting(listener: dict[str, Any], *rules: str) -> Any:
    return service(listener, rewrite_endpoints=True, advertised_host="a", allowed_nodes=[*rules])


CASES: dict[str, list[Any]] = {
    "relay/allowed-nodes": [
        rewriting({**OPEN, "upstream": "broker-1:9092"}, "broker-2:9092", "0.0.0.0/0"),
        rewriting(FAR, "10.0.0.0/8"),
        rewriting(FAR, "[2001:db8::/32]:9092"),
        rewriting(FAR, "*.example"),
        rewriting(FAR, "broker-2:22"),
        rewriting(FAR, "127.0.0.1:9092"),
        rewriting(FAR, "[::1]"),
        rewriting(NODE, "169.254.169.254:8080"),
        served("plain.properties", FAR, allowed_nodes=["*.example:1-65535"]),
    ],
    "rights/hidden-node": [service(OPEN), service({**OPEN, "tls": TLS})],
    "rights/lent": [
        served("plain.properties", OPEN, lend_rights=True, advertised_host="a"),
        served("plain.properties", NODE, lend_rights=True),
    ],
    "rights/lent-certificate": [
        service({**OPEN, "upstream_tls": {**UPSTREAM, **TLS}, "tls": TLS}, lend_rights=True),
        service({**NODE, "upstream_tls": {**UPSTREAM, **TLS}}),
    ],
    "tls/off": [
        service(FAR, rewrite_endpoints=True),
        service({**OPEN, "upstream": "[2001:db8::1]:9092"}),
        service(FAR),
    ],
    "tls/clients-in-clear": [service({**OPEN, "upstream_tls": UPSTREAM})],
    "tls/node-in-clear": [service({**FAR, "tls": TLS})],
    "tls/any-name": [
        service({**FAR, "tls": TLS, "upstream_tls": {"check_name": False}}),
        service({**FAR, "tls": TLS, "upstream_tls": {**UPSTREAM, "check_name": False}}),
    ],
    "tls/own-connections": [
        served("plain.properties"),
        served("scram.properties"),
        served("bare.properties"),
    ],
    "tls/own-any-name": [served("any-name.properties", NODE)],
    "tls/certificate": [
        service({**NODE, "tls": {**TLS, "certificate": "old.pem", "key": "old.pem"}})
    ],
    "reach/listener": [service({**OPEN, "tls": TLS})],
    "reach/metrics": [{**service(NODE), "metrics": "0.0.0.0:9464"}],
    "reach/feed": [service(NODE, feed={"listen": "0.0.0.0:9900", "token": "token"})],
    "reach/feed-for-all-users": [feed()],
    "secrets/short-token": [feed(token="short")],
    "secrets/guessable-token": [
        feed(token=name) for name in ("repeated", "sequence", "sample", "few")
    ],
    "secrets/recorded": [service(NODE, record={"path": "a.avro", "show_secrets": True})],
    "secrets/shown": [service(NODE, {"show_secrets": True})],
    "secrets/tls-keys": [service({**NODE, "tls": {**TLS, "keys_out": "keys.log"}})],
    "files/changeable": [
        service(NODE, scripts=["open.py"]),
        service(NODE, scripts=["odd: name.py"]),
        service(NODE, rules="open.yaml"),
        feed(token="written/token"),
    ],
    "files/readable": [
        feed(token="read-token"),
        service({**NODE, "tls": {**TLS, "key": "read.key"}}),
        served("read.properties", NODE),
        service(NODE, record={"path": "recordings"}),
        service(NODE, record={"path": "a.avro", "mode": "0644"}),
    ],
    "files/unusable": [
        feed(token="missing"),
        service(NODE, scripts=["bad.py"]),
        service(NODE, rules="bad.yaml"),
        service({**NODE, "tls": {**TLS, "key": "other.key"}}),
        service({**NODE, "upstream_tls": {"authorities": "bad.yaml"}}),
        served("bad.properties", NODE),
    ],
}
"""Configurations that have the weakness, the heaviest first."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The certificates and keys, which are made once."""
    folder = tmp_path_factory.mktemp("certificates")
    authority = Authority(folder, "ca")
    proxy, other = authority.issue("proxy"), authority.issue("other")
    old = trustme.CA().issue_cert("old", not_after=datetime.now(UTC) + timedelta(days=3))
    return {
        "ca.pem": authority.path.read_bytes(),
        "proxy.pem": proxy.certificate.read_bytes(),
        "proxy.key": proxy.key.read_bytes(),
        "read.key": proxy.key.read_bytes(),
        "other.key": other.key.read_bytes(),
        "old.pem": old.private_key_and_cert_chain_pem.bytes(),
    }


FILES = {
    "token": TOKEN,
    "short": "e1c7afab5fb0",
    "repeated": "kx7!" * 8,
    "sequence": "0123456789abcdef0123456789abcdef",
    "sample": "The-Secret-Of-Kafka-9317",
    "few": "abzabbzaazbabzzabzab",
    "read-token": TOKEN,
    "written/token": TOKEN,
    "open.py": "filters = []",
    "odd: name.py": "filters = []",
    "open.yaml": "rules: []",
    "bad.py": "class",
    "bad.yaml": "rules: 3",
    "recordings/one.avro": "",
    "plain.properties": "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n{jaas}",
    "scram.properties": "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=SCRAM-SHA-256\n{jaas}",
    "bare.properties": "security.protocol=PLAINTEXT\n",
    "any-name.properties": "security.protocol=SSL\nssl.endpoint.identification.algorithm=\n",
    "read.properties": "security.protocol=SSL\n",
    "bad.properties": "security.protocol=TLS\n",
}
MODES = {
    "open.py": 0o666,
    "odd: name.py": 0o666,
    "open.yaml": 0o646,
    "written": 0o777,
    "read-token": 0o644,
    "read.key": 0o644,
    "read.properties": 0o644,
    "recordings": 0o755,
    "recordings/one.avro": 0o644,
}
JAAS = (
    "sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required"
    ' username="kwire" password="hidden";\n'
)


@dataclass(frozen=True)
class Service:
    """A configuration in a folder that every user of the machine reaches."""

    folder: Path
    document: Any

    def weaknesses(self) -> list[Weakness]:
        """Check the file."""
        file = self.folder / "kwire-proxy.yaml"
        file.write_text(yaml.safe_dump(self.document))
        file.chmod(0o644)
        return examine(parse_config(file), file)

    def of(self, kind: str) -> Weakness | None:
        """Return the first weakness of a kind."""
        found = (weakness for weakness in self.weaknesses() if weakness.finding.id == kind)
        return next(found, None)


@pytest.fixture
def folder(made: dict[str, bytes]) -> Iterator[Path]:
    """The files that the configurations name."""
    with reachable_folder() as folder:
        contents = {name: text.replace("{jaas}", JAAS).encode() for name, text in FILES.items()}
        for path, content in {**contents, **made}.items():
            (folder / path).parent.mkdir(exist_ok=True)
            (folder / path).write_bytes(content)
            (folder / path).chmod(0o600)
        for path, mode in MODES.items():
            (folder / path).chmod(mode)
        yield folder


def test_each_kind_has_a_case() -> None:
    assert list(CASES) == [kind.id for kind in KINDS]


@pytest.mark.parametrize("kind", CASES)
def test_a_weakness_is_found_and_each_of_its_advices_heals_it(kind: str, folder: Path) -> None:
    verdict = next(known.verdict for known in KINDS if known.id == kind)
    seen = set()
    for document in CASES[kind]:
        weak = Service(folder, deepcopy(document))
        weakness = weak.of(kind)
        assert weakness is not None, document
        seen.add(weakness.finding.verdict)
        for advice in weakness.finding.advice.split("; or "):
            follow(advice, weakness, weak)
            assert weak.of(kind) is None, advice
            weak = Service(folder, deepcopy(document))
    assert verdict in seen


def follow(advice: str, weakness: Weakness, weak: Service) -> None:
    """Do what an advice has between backticks; what it leaves to people is done for them."""
    folder, parent = weak.folder, above(weak.document, weakness.key)
    for name, stand_in in {"CERT": "proxy.pem", "KEY": "proxy.key", "CA": "ca.pem"}.items():
        advice = re.sub(rf"\b{name}\b", stand_in, advice)
    advice = advice.replace("FILE", str(folder / "new-token")).replace("NAME", "kafka")
    for text in re.findall("`([^`]*)`", advice):
        if text.startswith(("chmod", "(")):
            subprocess.run(text, shell=True, check=True)
        elif ": " in text:
            parent.update(yaml.safe_load(text))
        elif "=" in text:
            properties(weak, weakness, text)
        elif text in parent:
            del parent[text]
        elif "." in text:
            properties(weak, weakness, f"{text}=https")
    if "`" not in advice:  # a certificate to renew, a file to mend
        mended(weakness, weak, parent)


def above(document: Any, key: str) -> Any:
    """Return the mapping that a key is in."""
    *parents, _ = key.split(".")
    for part in parents:
        match = re.fullmatch(r"(\w+)(?:\[(\d+)\])?", part)
        assert match is not None
        document = document[match[1]]
        document = document[int(match[2]) - 1] if match[2] else document
    return document


def properties(weak: Service, weakness: Weakness, line: str) -> None:
    """Set a property in the file that a weakness is about, for all checks of this test."""
    file = weak.folder / above(weak.document, weakness.key)["client_config"]
    name = line.partition("=")[0]
    kept = [other for other in file.read_text().splitlines() if not other.startswith(name)]
    file.write_text("\n".join([*kept, line]))


def mended(weakness: Weakness, weak: Service, parent: Any) -> None:
    """Put a file that works in the place of one that does not."""
    good = {
        "token": "token",
        "rules": "rules.yaml",
        "client_config": "bare.properties",
        "authorities": "ca.pem",
        "certificate": "proxy.pem",
    }
    (weak.folder / "rules.yaml").write_text("rules: []")
    (weak.folder / "filters.py").write_text("filters = []")
    key = weakness.key.rpartition(".")[2]
    if key.startswith("scripts"):
        parent["scripts"] = ["filters.py"]
    else:
        parent[key] = good[key]
    if "key" in parent:
        parent["key"] = "proxy.key"


def test_a_configuration_without_weaknesses_has_none(folder: Path) -> None:
    listener = {**OPEN, "upstream": "broker-1:9092", "tls": MUTUAL}
    upstream = {**UPSTREAM, **TLS}
    good = service(
        {**listener, "upstream_tls": upstream},
        feed={"listen": "127.0.0.1:9900", "token": "token"},
        record={"path": "a.avro"},
    )
    assert Service(folder, {**good, "metrics": "127.0.0.1:9464"}).weaknesses() == []


def test_rules_for_the_nodes_of_a_cluster_are_none(folder: Path) -> None:
    rules = ("broker-2", "*.kafka.example.org:9092-9099", "10.1.0.0/16", "[fd00:1:2::/48]:9092")
    kind = "relay/allowed-nodes"
    assert Service(folder, rewriting(FAR, *rules)).of(kind) is None
    assert Service(folder, rewriting(NODE, "127.0.0.1:9093-9099")).of(kind) is None


def test_no_value_of_a_secret_is_in_a_finding(folder: Path) -> None:
    for name, text in FILES.items():
        if "oken" in name or name in ("short", "repeated", "sample"):
            assert text not in str(Service(folder, feed(token=name)).weaknesses())
    assert "hidden" not in str(Service(folder, served("plain.properties")).weaknesses())


def test_drawn_tokens_are_not_taken_for_guessable_ones(folder: Path) -> None:
    """`openssl rand` makes them, in these forms."""
    drawn = Random(90)
    weak = Service(folder, feed(token="token"))
    for _ in range(10):
        token = drawn.randbytes(16)
        for form in (token.hex().encode(), base64.b64encode(token), token[:8].hex().encode()):
            (folder / "token").write_bytes(form)
            assert [found.finding.id for found in weak.weaknesses()] == []


def test_a_script_is_compiled_and_not_run(folder: Path) -> None:
    script = folder / "script.py"
    script.write_text(f"open({str(folder / 'ran')!r}, 'w')\nfilters = []")
    Service(folder, service(NODE, scripts=["script.py"])).weaknesses()
    assert not (folder / "ran").exists()


def test_the_verdict_grows_with_who_can_use_the_weakness(folder: Path) -> None:
    problem, warning = FindingVerdict.PROBLEM, FindingVerdict.WARNING
    for kind, verdicts in {
        "relay/allowed-nodes": (problem, *[warning] * 8),
        "rights/lent": (problem, warning),
        "rights/lent-certificate": (problem, warning),
        "tls/off": (problem, warning, warning),
        "tls/any-name": (problem, warning),
        "tls/own-connections": (problem, warning, warning),
    }.items():
        found = [Service(folder, document).of(kind) for document in CASES[kind]]
        assert tuple(weak.finding.verdict for weak in found if weak) == verdicts
