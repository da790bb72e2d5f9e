"""Latencies and rates are Kafka's; only the runtime knows a clock."""

import ast
import math
from pathlib import Path

import pytest

from kwire.controller.server import raft_sensors
from kwire.controller.server.raft_sensors import RaftSensors, Sensor

JAVA = """
     0  4     4.0                 4   0.13333333333333333
  1000  8     6.0                 8   0.3870967741935484
 15000  -     6.0                 8   0.26666666666666666
 29999  6     6.0                 8   0.3000050000833347
 30000 10     7.0                10   0.9333333333333333
 45000  2     6.0                10   0.6666666666666666
 60000  -     6.0                10   0.5
 60001  1     5.166666666666667  10   0.5166580556990717
 75000  -     5.166666666666667  10   0.41333333333333333
 95000  -     4.333333333333333  10   0.2
125000  -     nan               nan   0.0
"""
"""Avg, Max and Rate(WindowedSum) of kafka-clients 4.3.1, with its default MetricConfig: time,
number recorded then, average, maximum, rate."""


def test_a_sensor_says_what_kafkas_says_at_every_moment() -> None:
    sensor = Sensor()
    for line in JAVA.strip().splitlines():
        now, value, *expected = line.split()
        if value != "-":
            sensor.record(int(value), int(now))
        found = [sensor.average(int(now)), sensor.maximum(int(now)), sensor.rate(int(now))]
        assert found == pytest.approx(list(map(float, expected)), nan_ok=True)


def test_a_commit_takes_its_time_divided_by_the_records_of_the_batch() -> None:
    sensors = RaftSensors()
    sensors.stepped("leader", 1, 0)
    sensors.appended(10, 14, 100)
    sensors.appended(14, 15, 110)
    sensors.committed(14, 120)
    assert sensors.commit_latency.average(120) == (120 - 100) / 4
    sensors.committed(15, 140)
    assert sensors.commit_latency.maximum(140) == 140 - 110
    assert sensors.append_records.rate(140) == pytest.approx(5 / 30.040)
    assert sensors.fetch_records.rate(140) == 0


def test_what_a_leader_could_not_commit_itself_has_no_latency() -> None:
    sensors = RaftSensors()
    sensors.stepped("leader", 1, 0)
    sensors.appended(0, 1, 0)
    sensors.stepped("follower", 2, 10)
    sensors.appended(1, 3, 20)
    sensors.committed(3, 30)
    assert math.isnan(sensors.commit_latency.average(30))
    assert sensors.fetch_records.rate(30) == pytest.approx(2 / 30.010)


@pytest.mark.parametrize("end", ["leader", "follower"])
def test_an_election_lasts_from_the_candidacy_until_somebody_leads(end: str) -> None:
    sensors = RaftSensors()
    sensors.stepped("unattached", 4, 0)
    sensors.stepped("prospective", 4, 10)
    sensors.stepped("candidate", 5, 25)
    sensors.stepped("candidate", 5, 30)
    sensors.stepped(end, 5, 65)
    assert sensors.election_latency.average(65) == 65 - 25
    sensors.stepped("follower", 6, 90)
    assert sensors.election_latency.average(90) == 65 - 25


def test_the_idle_ratio_is_what_work_leaves_over() -> None:
    sensors = RaftSensors()
    assert sensors.idle_ratio(0) == 1
    sensors.busy.record(6000, 30_000)
    sensors.busy.record(3000, 60_000)
    assert sensors.idle_ratio(60_000) == pytest.approx(1 - 9 / 30)
    sensors.busy.record(90_000, 60_000)
    assert sensors.idle_ratio(60_000) == 0


def test_it_reads_no_clock() -> None:
    tree = ast.parse(Path(raft_sensors.__file__).read_text())
    imports = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert imports == {"__future__", "collections", "dataclasses", "math"}
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.Import)]
