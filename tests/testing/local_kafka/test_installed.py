"""An unpacked release of Kafka: what is one, and how its nodes log."""

from pathlib import Path

import pytest

from kwire.testing.local_kafka.errors import JarsNotFound
from kwire.testing.local_kafka.installed import installed


def unpacked(folder: Path, *jars: str) -> Path:
    (folder / "libs").mkdir(parents=True)
    for jar in jars:
        (folder / "libs" / jar).touch()
    return folder


def test_a_release_is_told_by_its_jars_wherever_the_path_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = unpacked(tmp_path / "kafka", "kafka-clients-4.3.1.jar", "kafka_2.13-4.3.1.jar", "a.jar")
    expected = ("a.jar", "kafka-clients-4.3.1.jar", "kafka_2.13-4.3.1.jar")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    for path in (home, Path("kafka"), Path("~/kafka")):
        kafka = installed(path)
        # A node's Java runs in a folder of its own: its class path must not be relative.
        assert (kafka.home, kafka.version) == (home, "4.3.1")
        assert kafka.jars == tuple(home / "libs" / name for name in expected)


@pytest.mark.parametrize("place", ["", "libs", "nowhere", "libs/a.jar"])
def test_another_folder_is_refused_with_what_it_lacks(tmp_path: Path, place: str) -> None:
    unpacked(tmp_path, "a.jar")
    with pytest.raises(JarsNotFound) as refused:
        installed(tmp_path / place)
    assert str(refused.value) == (
        f"{tmp_path / place} is no folder of Kafka: it has no libs/kafka-clients-VERSION.jar; name"
        " the folder that a release of Kafka unpacks to, or none, to load the jars."
    )


def test_clients_without_a_broker_are_refused(tmp_path: Path) -> None:
    unpacked(tmp_path, "kafka-clients-4.3.1.jar", "kafka_2.13-4.2.0.jar")
    with pytest.raises(JarsNotFound, match=r"no broker, .* libs lacks kafka_2\.13-4\.3\.1\.jar"):
        installed(tmp_path)


@pytest.mark.parametrize(
    ("file", "option"),
    [
        ("log4j2.yaml", "-Dlog4j2.configurationFile="),
        ("log4j.properties", "-Dlog4j.configuration="),
    ],
)
def test_nodes_log_by_the_releases_own_configuration(
    tmp_path: Path, file: str, option: str
) -> None:
    unpacked(tmp_path, "kafka-clients-4.3.1.jar", "kafka_2.13-4.3.1.jar")
    assert installed(tmp_path).logging("/node") == []
    config = tmp_path / "config" / file
    config.parent.mkdir()
    config.touch()
    options = ["-Dkafka.logs.dir=/node", f"{option}file://{config}"]
    assert installed(tmp_path).logging("/node") == options
