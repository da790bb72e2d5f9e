"""The recipes of docs/service: schemas take them, and kwire takes their commands and files."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import kubernetes_validate
import pytest
import yaml

from command_tree import tree
from kwire.proxy.service.config import read_config
from tests.support.paths import DOCS

FOLDER = DOCS / "service"
RECIPES = sorted((FOLDER / "kubernetes").glob("*.yaml"))
DASHBOARDS = FOLDER / "kubernetes" / "dashboards.yaml"
KUBERNETES = "1.33"

KWIRE = re.compile(r"(?<![\w.-])kwire [^|&\n]+")
COMMENTED = re.compile(r"^#   (?:podman run )?(kwire .*)", re.MULTILINE)
VARIABLE = re.compile(r"\$\(\(.*?\)\)|\$id")


def objects() -> list[Any]:
    """Return the objects of the recipes for Kubernetes."""
    return [one for path in RECIPES for one in yaml.safe_load_all(path.read_text())]


def compose() -> Any:
    return yaml.safe_load((FOLDER / "compose.yaml").read_text())


def containers(of: list[Any]) -> Iterator[Any]:
    for one in of:
        if "template" in one.get("spec", {}):
            pod = one["spec"]["template"]["spec"]
            yield from (*pod["containers"], *pod.get("initContainers", []))


def nested(value: Any) -> Iterator[Any]:
    """Yield a value and all that it holds."""
    yield value
    children = value.values() if isinstance(value, dict) else value
    if isinstance(value, dict | list):
        for child in children:
            yield from nested(child)


def of_image(container: Any) -> list[str]:
    """Return the arguments for the entry point of kwire's image; none for another image."""
    arguments = container.get("args") or container.get("command") or []
    return ["kwire", *arguments] if container["image"] == "kwire" and arguments else []


def commands() -> list[list[str]]:
    """Return the words of every command of kwire in the files, with a number for a variable."""
    found = [of_image(one) for one in (*containers(objects()), *compose()["services"].values())]
    texts = [one for one in nested([*objects(), compose()]) if isinstance(one, str)]
    texts = [one for one in texts if not one.startswith("{")]  # dashboards
    texts += re.findall(r"ExecStart=(.*)", (FOLDER / "kwire-proxy.service").read_text())
    for file in ("Containerfile", "compose.yaml"):
        texts += COMMENTED.findall((FOLDER / file).read_text())
    lines = [line for text in texts for line in KWIRE.findall(VARIABLE.sub("3000", text))]
    return [*filter(None, found), *map(shlex.split, lines)]


def test_a_schema_takes_every_object(subtests: pytest.Subtests) -> None:
    for one in objects():
        with subtests.test(one["kind"], name=one["metadata"]["name"]):
            kubernetes_validate.validate(one, KUBERNETES, strict=True)


def test_compose_takes_its_file() -> None:
    package = files("check_jsonschema") / "builtin_schemas" / "vendor" / "compose-spec.json"
    jsonschema.validate(compose(), json.loads(package.read_text()))


def test_kwire_takes_every_command(subtests: pytest.Subtests) -> None:
    found = commands()
    assert {"quorum check", "quorum remove-controller", "exporter", "proxy"} <= {
        path_of(words) for words in found
    }
    for words in found:
        with subtests.test(shlex.join(words)):
            path = path_of(words)
            tree()[path].make_context(path, words[1 + len(path.split()) :])


def path_of(words: list[str]) -> str:
    """Return the path of the command that some words begin with."""
    paths = (" ".join(words[1:end]) for end in range(len(words), 0, -1))
    return next(path for path in paths if path in tree())


def test_the_proxy_takes_every_configuration(tmp_path: Path) -> None:
    texts = [one["data"].get("kwire-proxy.yaml") for one in objects() if one["kind"] == "ConfigMap"]
    texts = [*filter(None, texts), compose()["configs"]["proxy"]["content"]]
    assert len(texts) == 2
    for text in texts:
        (tmp_path / "kwire-proxy.yaml").write_text(text)
        config = read_config(tmp_path / "kwire-proxy.yaml")
        assert config.metrics is not None
        assert f"http://{config.metrics}/ready" in str([*nested(compose()), *objects()])
        assert [one.record.path for one in config.clusters if one.record] == [
            Path("/var/lib/kwire")
        ]


def test_what_kafka_advertises_in_compose_is_where_kwire_listens() -> None:
    services = compose()["services"]
    kafka = services["kafka"]["environment"]
    advertised = {
        int(port) for port in re.findall(r"localhost:(\d+)", kafka["KAFKA_ADVERTISED_LISTENERS"])
    }
    published = {int(one.split(":")[1]) for one in services["kwire"]["ports"]}
    config = yaml.safe_load(compose()["configs"]["proxy"]["content"])
    listens = {int(one["listen"].split(":")[1]) for one in config["clusters"][0]["listeners"]}
    assert advertised == published == listens
    assert all(one.startswith("127.0.0.1:") for one in services["kwire"]["ports"])


def test_nothing_of_kwire_runs_as_root(subtests: pytest.Subtests) -> None:
    assert re.search(r"^USER \d+:\d+$", (FOLDER / "Containerfile").read_text(), re.MULTILINE)
    own = [one for one in containers(objects()) if one["image"] == "kwire"]
    assert len(own) == 2
    for container in own:
        with subtests.test(container["name"]):
            security = container["securityContext"]
            assert security["runAsNonRoot"]
            assert security["readOnlyRootFilesystem"]
            assert security["capabilities"] == {"drop": ["ALL"]}


def test_the_dashboards_are_those_of_the_package() -> None:
    """KWIRE_WRITE=1 writes them anew."""
    text = DASHBOARDS_HEAD
    for name, package in (("quorum", "kwire.exporter"), ("proxy", "kwire.proxy.service")):
        dashboard = json.loads((files(package) / "grafana-dashboard.json").read_text())
        text += f"  {name}.json: |\n    {json.dumps(dashboard, separators=(',', ':'))}\n"
    if os.environ.get("KWIRE_WRITE"):
        DASHBOARDS.write_text(text)
    assert DASHBOARDS.read_text() == text


DASHBOARDS_HEAD = """\
# The dashboards of the exporter and of the proxy; Grafana's sidecar loads what has this label.
# They are in the package: KWIRE_WRITE=1 pytest tests/proxy/service/test_deployment.py
apiVersion: v1
kind: ConfigMap
metadata:
  name: kwire-dashboards
  labels: {grafana_dashboard: "1"}
data:
"""
