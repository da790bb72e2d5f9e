"""The fixtures of other people's tests: loaded by themselves, and at no cost until asked for."""

import os
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import distribution
from pathlib import Path

import pytest

from tests.support.cli.scripted_cluster import scripted_cluster
from tests.support.paths import ROOT

PLUGIN = "kwire.testing.pytest_plugin"
LIGHT = """
import sys


def test_nothing_of_kwire_is_loaded_before_it_is_asked_for():
    assert {name for name in sys.modules if name.partition(".")[0] == "kwire"} == {
        "kwire", "kwire.lazy_names", "kwire.testing", "kwire.testing.pytest_plugin"
    }
    assert not {"typer", "rich", "msgspec", "pydantic", "construct", "asyncio"} & {*sys.modules}
"""
UPSTREAM = """
import pytest
from scripted import asked


@pytest.fixture
def kwire_upstream():
    return "ADDRESS"
"""
ASK = """
import socket


def asked(servers):
    '''Return the first bytes that answer ApiVersions v0.'''
    host, _, port = servers.partition(":")
    with socket.create_connection((host, int(port)), timeout=20) as client:
        client.sendall(bytes.fromhex("0000000a 0012 0000 00000001 ffff"))
        return client.recv(8)
"""
FAULTS = """
import asyncio
import pytest
from scripted import asked


@pytest.mark.kwire_rules([{"match": "~api ApiVersions", "close": True, "nth": 2}])
def test_rules_of_the_mark(kwire_proxy):
    assert [bool(asked(kwire_proxy.bootstrap_servers)) for _ in range(3)] == [True, False, True]


def test_a_proxy_is_new_for_each_test(kwire_proxy):
    kwire_proxy.on("ApiVersions").call(2).close()
    assert asked(kwire_proxy.bootstrap_servers)
    assert kwire_proxy.seen("ApiVersions") == 1


def test_an_asynchronous_test_uses_it_alike(kwire_proxy):
    async def ask():
        kwire_proxy.on("ApiVersions").close()
        return await asyncio.to_thread(asked, kwire_proxy.bootstrap_servers)

    assert asyncio.run(ask()) == b""
"""
QUORUM = """

def test_a_quorum_has_ports_of_its_own(kwire_quorum):
    assert len({*kwire_quorum.bootstrap_controllers.split(",")}) == 3
"""
FAILS = """
from scripted import asked


def test_that_fails(kwire_proxy):
    kwire_proxy.on("EndTxn").error("INVALID_TXN_STATE").call(2)
    asked(kwire_proxy.bootstrap_servers)
    assert False
"""
MISPLACED = """
import pytest


@pytest.mark.kwire_rules({"match": "~api Fetch", "close": True})
def test_without_a_proxy():
    pass
"""


@pytest.fixture
def upstream() -> Iterator[str]:
    """The address of a scripted broker."""
    with scripted_cluster() as brokers:
        yield brokers.addresses[0]


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run pytest in a project of its own, as with an installed kwire."""
    # The metadata of an editable install may be of an earlier time: the plugin by its name.
    load = ["-p", PLUGIN, "-p", "no:cacheprovider", "--strict-markers"]
    (folder / "pytest.ini").touch()
    return subprocess.run(
        [sys.executable, "-m", "pytest", *load, *arguments],
        cwd=folder,
        env={
            **os.environ,
            "PYTHONPATH": f"{ROOT}:{folder}",
            "PYTEST_ADDOPTS": "",
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        },
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def project(folder: Path, upstream: str, tests: str) -> Path:
    """Write a project whose cluster is at an address."""
    (folder / "scripted.py").write_text(ASK)
    (folder / "conftest.py").write_text(UPSTREAM.replace("ADDRESS", upstream))
    (folder / "test_own.py").write_text(tests)
    return folder


def test_the_plugin_imports_nothing(tmp_path: Path) -> None:
    (tmp_path / "test_light.py").write_text(LIGHT)
    done = run(tmp_path)
    assert "1 passed" in done.stdout, done.stdout


def test_it_is_the_one_plugin_that_loads_itself_and_is_named_as_its_module() -> None:
    loaded = distribution("kwire").entry_points.select(group="pytest11")
    assert {(one.name, one.value) for one in loaded} == {(PLUGIN, PLUGIN)}, "install kwire again"


def test_it_may_be_loaded_again_under_its_name(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(f"pytest_plugins = [{PLUGIN!r}]")
    (tmp_path / "test_light.py").write_text(LIGHT)
    both = ["-p", PLUGIN, "-p", "kwire.conform.pytest_plugin", "--kwire-conform-read-only"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *both, "--collect-only", "-q"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert "1 test collected" in done.stdout, done.stderr


def test_conformance_checks_are_loaded_by_their_option_alone(tmp_path: Path, upstream: str) -> None:
    asked = ["--kwire-conform", upstream, "--kwire-conform-id", "start/server/1"]
    done = run(tmp_path, *asked, "-v")
    assert "kwire-conform::start/server/1 PASSED" in done.stdout


def test_help_names_the_options_of_conformance_beside_one_of_them(tmp_path: Path) -> None:
    option = "--kwire-conform-read-only"
    plain = run(tmp_path, "--help").stdout
    assert "--kwire-conform HOST:PORT --help" in plain
    assert option not in plain.split()
    assert option in run(tmp_path, "--help", "--kwire-conform", "x").stdout.split()


def test_faults_are_those_of_the_test(tmp_path: Path, upstream: str) -> None:
    done = run(project(tmp_path, upstream, FAULTS))
    assert "3 passed" in done.stdout, done.stdout


@pytest.mark.costly
def test_workers_of_xdist_do_not_meet(tmp_path: Path, upstream: str) -> None:
    for number in range(4):
        (tmp_path / f"test_{number}.py").write_text(FAULTS + QUORUM)
    done = run(project(tmp_path, upstream, FAULTS), "-p", "xdist", "-n", "2")
    assert "19 passed" in done.stdout, done.stdout


def test_the_report_of_a_failure_says_what_came_and_what_acted(
    tmp_path: Path, upstream: str
) -> None:
    done = run(project(tmp_path, upstream, FAILS))
    shown = done.stdout.partition("Captured kwire_proxy teardown")[2].splitlines()
    assert shown[1:3] == [
        "requests: 1 ApiVersions",
        "~api EndTxn: error INVALID_TXN_STATE, nth 2: acted 0 times, 0 matched",
    ]


def test_rules_for_no_proxy_are_refused(tmp_path: Path) -> None:
    (tmp_path / "test_own.py").write_text(MISPLACED)
    done = run(tmp_path)
    assert "test_without_a_proxy has kwire_rules, but no fixture kwire_proxy" in done.stdout
    assert done.returncode == 1
