"""The launchers of a run of the tests: their choice, and a missing one."""

import os
import subprocess
import sys

import pytest

from real_kafka import DockerNotFound, choice, launcher, required
from tests.support.paths import ROOT

ONE_TEST = "tests/real_kafka/test_cluster.py::test_a_combined_node_is_its_own_quorum"


def run_tests(**environment: str) -> str:
    """Run one cluster test without a Docker engine; return pytest's output."""
    nowhere = {"DOCKER_HOST": "unix:///nowhere/docker.sock", **environment}
    told = subprocess.run(
        [sys.executable, "-m", "pytest", "-rs", "-p", "no:cacheprovider", ONE_TEST],
        env={**os.environ, **nowhere},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    return told.stdout


def test_without_docker_a_container_test_is_skipped_with_its_reason() -> None:
    told = run_tests(KWIRE_KAFKA="container", KWIRE_REQUIRE_KAFKA="")
    assert "1 skipped" in told
    assert "No Kafka as container: No Docker engine answers: start dockerd." in told


def test_where_kafka_is_required_its_absence_is_a_failure() -> None:
    told = run_tests(KWIRE_KAFKA="container", KWIRE_REQUIRE_KAFKA="1")
    assert "DockerNotFound: No Docker engine answers" in told
    assert "1 error" in told


def test_a_launcher_that_does_not_exist_is_refused() -> None:
    assert "KWIRE_KAFKA is 'cloud': set it to one of auto, local" in run_tests(KWIRE_KAFKA="cloud")


def test_what_is_given_goes_before_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KWIRE_KAFKA", "container")
    assert (choice("local"), choice()) == ("local", "container")
    monkeypatch.delenv("KWIRE_KAFKA")
    assert choice() == "auto"


@pytest.mark.parametrize(("value", "meant"), [("1", True), ("true", True), ("0", False)])
def test_kafka_is_required_by_the_environment(
    monkeypatch: pytest.MonkeyPatch, value: str, meant: bool
) -> None:
    monkeypatch.setenv("KWIRE_REQUIRE_KAFKA", value)
    assert required() is meant


def test_the_two_launchers_have_names() -> None:
    assert [launcher(name).name for name in ("local", "container")] == ["local", "container"]


def test_an_image_of_ones_own_is_not_asked_for_where_no_engine_answers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from real_kafka.image import image

    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
    monkeypatch.setenv("KWIRE_IMAGE", "mine")
    with pytest.raises(DockerNotFound, match="start dockerd"):
        image("4.3.1", print)
