"""A missing extra is named by the error of whatever needs it, with the line that installs it."""

import json
import re
import subprocess
import sys
import tomllib
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from kwire.conform.report.html_matrix import to_html
from kwire.controller.authentication.token_claims import ClaimRules
from kwire.controller.authentication.token_validators import SignedTokens
from kwire.errors import InvalidValue
from kwire.extras import MissingExtra, importing, installed_extras, installed_packages, pip_line
from tests.support.paths import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]

RUN = """
import json, os, sys
for name in json.loads(sys.argv[1]):
    sys.modules[name] = None
from kwire.cli.main import main
main(sys.argv[2:])
"""

COMMANDS = {
    "kafka": ("controller", "quorum", "--brokers", "1"),
    "otel": ("capture", "spans", "in.avro", "--otlp", "http://127.0.0.1:1"),
    "pcap": ("capture", "import", "in.pcap", "--out", "out.avro"),
    "pipeline": ("pipeline", "ingest", "in.avro", "--output", "tables"),
    "query": ("capture", "query", "in.avro", "select 1 from calls"),
    "security": (
        *("cluster", "describe", "--bootstrap-controller", "127.0.0.1:1"),
        *("--command-config", "client.properties"),
    ),
    "topic": ("proxy", "--listen", "127.0.0.1:0=127.0.0.1:1", "--record-topic", "t@127.0.0.1:1"),
    "watch": ("watch", "127.0.0.1:1"),
    "zookeeper": ("migration", "status", "--zookeeper", "127.0.0.1:1"),
}
"""A command that needs an extra, by extra; `conform` and PyJWT are asked below."""

MODULES = {
    "pyjwt": "jwt",
    "confluent-kafka": "confluent_kafka",
    "asyncio-dgram": "asyncio_dgram",
    "textual-serve": "textual_serve",
    "pure-sasl": "puresasl",
    "opentelemetry-sdk": "opentelemetry.sdk",
    "opentelemetry-exporter-otlp-proto-http": "opentelemetry.exporter",
}
"""The modules of packages that are named otherwise."""


def package(requirement: str) -> str:
    match = re.match(r"[\w-]+", requirement)
    assert match
    return match[0]


def run(folder: Path, hidden: list[str], *command: str) -> str:
    """Run kwire in a folder where these modules are missing; return what it prints."""
    (folder / "client.properties").write_text(
        "security.protocol=SSL\nssl.truststore.type=PKCS12\nssl.truststore.location=store.p12\n"
    )
    (folder / "store.p12").write_bytes(b"")
    (folder / "in.pcap").write_bytes(b"")
    done = subprocess.run(
        [sys.executable, "-c", RUN, json.dumps(hidden), *command],
        cwd=folder,
        env={"PATH": str(folder), "HOME": str(folder)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_all_has_every_extra() -> None:
    assert EXTRAS["all"] == [f"kwire[{','.join(sorted({*EXTRAS} - {'all'}))}]"]
    assert {*COMMANDS, "conform"} == {*EXTRAS} - {"all"}


@pytest.mark.parametrize("extra", COMMANDS)
def test_a_missing_extra_is_named_with_its_pip_line(extra: str, tmp_path: Path) -> None:
    names = [package(requirement) for requirement in EXTRAS[extra]]
    hidden = [MODULES.get(name, name) for name in names if name != "kwire"]
    printed = run(tmp_path, hidden, *COMMANDS[extra])
    assert pip_line(extra) in printed
    assert "Traceback" not in printed


@pytest.mark.parametrize("words", [("list",), ("remove", "x"), ("add", "--preset", "slow-fetch")])
def test_rules_of_a_running_proxy_need_their_extra(words: tuple[str, ...], tmp_path: Path) -> None:
    printed = run(tmp_path, ["asyncio_dgram"], "proxy", "rules", *words)
    assert pip_line("watch") in printed


def test_a_page_of_results_needs_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(MissingExtra, match=re.escape(pip_line("conform"))):
        to_html([])


def test_signed_tokens_need_their_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jwt", None)
    with pytest.raises(InvalidValue, match=re.escape(pip_line("security"))):
        SignedTokens("{}", ClaimRules())


def test_only_a_package_of_the_extra_is_called_missing() -> None:
    with pytest.raises(ModuleNotFoundError), importing("dpkt", "pcap", "reading packets"):
        import kwire.no_such_module  # type: ignore[import-not-found]  # noqa: F401


def test_installed_extras_are_those_of_which_all_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    here = {"a": "1", "b": "2"}
    stated = [
        'x; extra == "other"',
        'a>=1; extra == "one"',
        'b; os_name and extra=="one"',
    ]
    stated += ["c", 'a; extra == "two"', 'c; extra == "two"', 'b; extra == "all"']

    def version(name: str) -> str:
        if name not in here:
            raise PackageNotFoundError(name)
        return here[name]

    monkeypatch.setattr("importlib.metadata.requires", lambda name: stated)
    monkeypatch.setattr("importlib.metadata.version", version)
    assert installed_extras() == {"one": here}
    stated[:] = ["b>=1", 'c; extra == "two"']
    assert installed_packages() == {"b": "2"}
