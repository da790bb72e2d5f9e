"""The image of Kafka: built from this machine's files, once for the same content."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from docker import DockerClient


pytestmark = pytest.mark.container


def names(engine: DockerClient, repository: str) -> set[str]:
    return {tag for one in engine.images.list(repository) for tag in one.tags}


def test_an_image_is_built_once_for_the_same_content(docker_engine: DockerClient) -> None:
    from real_kafka.image import image

    name = image("4.3.1", print)
    told: list[str] = []
    assert image("4.3.1", told.append) == name
    assert not [line for line in told if "building" in line]
    assert name in names(docker_engine, "kwire/kafka")


def test_an_image_runs_java_with_kafkas_classes(docker_engine: DockerClient) -> None:
    from real_kafka.image import image

    command = ["java", "-cp", "/opt/kafka/libs/*", "kafka.Kafka", "--version"]
    said = docker_engine.containers.run(image("3.9.1", print), command, remove=True)
    assert said.startswith(b"3.9.1")


def test_an_image_of_ones_own_goes_before_a_built_one(
    docker_engine: DockerClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    from real_kafka.image import image

    monkeypatch.setenv("KWIRE_IMAGE", "registry.example/kafka:1")
    assert image("4.3.1", print) == "registry.example/kafka:1"


def test_the_images_that_a_new_one_replaces_are_removed(docker_engine: DockerClient) -> None:
    from real_kafka.image import _forget_others, image

    built = docker_engine.images.get(image("4.3.1", print))
    for tag in ("0.0.1-old", "0.0.1-new", "0.0.10-other"):
        built.tag("kwire/kafka", tag)
    try:
        _forget_others(docker_engine, "kwire/kafka:0.0.1-new")
        left = {name for name in names(docker_engine, "kwire/kafka") if ":0.0." in name}
        assert left == {"kwire/kafka:0.0.1-new", "kwire/kafka:0.0.10-other"}
    finally:
        for name in names(docker_engine, "kwire/kafka"):
            if ":0.0." in name:
                docker_engine.images.remove(name)
