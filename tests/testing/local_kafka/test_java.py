"""Kafka runs on Java 17 and every newer one; a test skips where there is none."""

from pathlib import Path

import pytest

from real_kafka import KafkaJavaNotFound, KafkaUnavailable, java


def test_a_machine_without_a_java_for_kafka_cannot_run_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KWIRE_JAVA", str(tmp_path / "nowhere"))
    with pytest.raises(KafkaJavaNotFound) as found:
        java()
    assert isinstance(found.value, KafkaUnavailable)
    assert str(found.value) == (
        f"Kafka needs Java 17 or newer ({tmp_path}/nowhere is not usable):"
        " set JAVA_HOME, put java on PATH, or pip install 'kwire[kafka]'."
    )
