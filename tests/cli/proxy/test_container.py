"""The Containerfile of docs/service, built on this machine's Python, and run."""

from __future__ import annotations

import io
import re
import shutil
import socket
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

import pytest
import yaml

from tests.support.cli.proxy_process import ANSWER, PATIENCE
from tests.support.cli.service_process import GatedNode, ask
from tests.support.eventually import eventually_blocking
from tests.support.paths import DOCS, ROOT
from tests.support.real_kafka.python_base import stage_python

if TYPE_CHECKING:
    from docker import DockerClient
    from docker.models.containers import Container

pytestmark = [pytest.mark.container, pytest.mark.real]

BASE, STAGE, TAG = "kwire/test-python", "kwire/test-build", "kwire/test-service"
LIMIT = 100 * 1000 * 1000
"""Bytes that kwire may add to the base."""

LOOK = """\
import os
from kwire.codec.native import _program  # of the wheel
state = os.stat("/var/lib/kwire")
print(os.getuid(), state.st_uid, oct(state.st_mode))
"""


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the Containerfile, with wheels of this checkout and of what it needs."""
    folder = tmp_path_factory.mktemp("context")
    shutil.copy(DOCS / "service" / "Containerfile", folder)
    wheel = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-build-isolation"]
    constraints = ["--constraint", str(ROOT / "constraints.txt")]
    target = ["--wheel-dir", str(folder / "wheels"), str(ROOT)]
    subprocess.run([*wheel, *constraints, *target], check=True)
    return folder


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that builds the image of Python."""
    folder = tmp_path_factory.mktemp("base")
    stage_python(folder)
    return folder


@pytest.fixture
def image(docker_engine: DockerClient, context: Path, base: Path) -> Iterator[str]:
    """The image's name; it is gone after the test."""
    arguments = {"PYTHON": BASE, "PIP_NO_INDEX": "1"}
    containerfile = {"path": str(context), "dockerfile": "Containerfile", "network_mode": "none"}
    build = docker_engine.images.build
    try:
        build(path=str(base), tag=BASE)
        build(tag=STAGE, target="build", buildargs=arguments, rm=True, **containerfile)
        build(tag=TAG, buildargs=arguments, rm=True, **containerfile)
        yield TAG
    finally:
        for tag in (TAG, STAGE, BASE):
            if docker_engine.images.list(tag):
                docker_engine.images.remove(tag, force=True)


def test_the_image_is_small_has_no_rights_and_its_proxy_goes_on_after_a_kill(
    docker_engine: DockerClient, image: str, tmp_path: Path, gated_node: GatedNode
) -> None:
    base, built = (docker_engine.images.get(name).attrs["Size"] for name in (BASE, image))
    assert built - base < LIMIT
    alone = {"remove": True, "network_mode": "none", "read_only": True, "cap_drop": ["ALL"]}
    run = docker_engine.containers.run
    assert run(image, ["--version"], **alone).startswith(b"kwire ")
    assert b"ReplicaEpoch" in run(image, ["protocol", "show", "VoteRequest"], **alone)
    said = run(image, ["-c", LOOK], entrypoint="python", **alone)
    assert said.decode().split() == ["65532", "65532", "0o40700"]

    address = free_address()
    with started(docker_engine, image, configured(tmp_path, gated_node, address)) as container:
        use(container, address, ready=1)
        container.kill("SIGKILL")
        container.wait()
        container.start()
        use(container, address, ready=2)
        container.stop(timeout=60)
        assert container.wait()["StatusCode"] == 0
        *_, last = files_in(container, "/var/lib/kwire")
        assert re.fullmatch(r"capture-.*\.avro", last)


def files_in(container: Container, folder: str) -> list[str]:
    """Return the names of the files in a folder of a container."""
    chunks, _ = container.get_archive(folder)
    with tarfile.open(fileobj=io.BytesIO(b"".join(chunks))) as archive:
        return sorted(PurePath(file.name).name for file in archive if file.isfile())


def free_address() -> tuple[str, int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        host, port = server.getsockname()
        return host, port


def configured(folder: Path, node: GatedNode, address: tuple[str, int]) -> Path:
    """Write a configuration of one listener, which records where the image may write."""
    listener = {"listen": f"127.0.0.1:{address[1]}", "upstream": node.address, "node": 1}
    cluster = {"listeners": [listener], "record": {"path": "/var/lib/kwire"}}
    file = folder / "kwire-proxy.yaml"
    file.write_text(yaml.safe_dump({"clusters": [cluster], "log": {"format": "json"}}))
    return file


@contextmanager
def started(engine: DockerClient, image: str, config: Path) -> Iterator[Container]:
    """Run the image's own command, as compose.yaml does."""
    inside = {"bind": "/etc/kwire/kwire-proxy.yaml", "mode": "ro"}
    container = engine.containers.run(
        image,
        detach=True,
        network_mode="host",
        read_only=True,
        cap_drop=["ALL"],
        security_opt=["no-new-privileges:true"],
        volumes={str(config): inside},
    )
    try:
        yield container
    finally:
        container.remove(force=True, v=True)


def use(container: Container, address: tuple[str, int], *, ready: int) -> None:
    """Wait until the proxy has become ready so often, and send a request through it."""
    log = eventually_blocking(container.logs, lambda text: text.count(b'"ready"') >= ready)
    with socket.create_connection(address, timeout=PATIENCE) as client:
        assert ask(client) == ANSWER, log
