"""`make demo KAFKA=1` runs from the first JVM to the last, and leaves nothing behind."""

import re
import signal
import sys
from pathlib import Path

import pytest

from real_kafka import KafkaUnavailable, class_path, java, required
from tests.support.cli.demo_run import SESSION, interrupt, left_behind, session_apis, start_demo

DEMO = (sys.executable, "-m", "real_kafka.demo")


@pytest.fixture(scope="module", autouse=True)
def kafka_is_here() -> None:
    """Skip if real Kafka cannot run here, unless KWIRE_REQUIRE_KAFKA asks for a failure."""
    try:
        java()
        class_path("4.3.1")
    except KafkaUnavailable as missing:
        if required():
            raise
        pytest.skip(str(missing))


@pytest.mark.nightly
@pytest.mark.cluster
def test_the_demo_changes_the_voters_through_the_proxy_and_shows_it(tmp_path: Path) -> None:
    with start_demo([*DEMO, "--seconds", "3"], tmp_path) as run:
        out, _ = run.communicate(timeout=240)
    assert run.returncode == 0, out
    assert session_apis(out) == SESSION
    for api in ("Fetch", "BrokerHeartbeat", "BrokerRegistration", "ControllerRegistration"):
        assert re.search(rf"^\d\d:.* → 300\d +{api} v", out, re.MULTILINE), api
    assert out.count("CurrentVoters:") == 3
    assert "voters 3000,3001,3002,3003 + observer 1" in out
    assert out.rstrip().endswith("Every RPC was decoded; the voters are what they were.")
    assert left_behind(tmp_path) == []


@pytest.mark.cluster
@pytest.mark.nightly
@pytest.mark.parametrize(
    ("moment", "number"),
    [
        pytest.param("starting broker 1", signal.SIGINT, id="while it starts"),
        pytest.param("── Describe", signal.SIGTERM, id="while it runs"),
    ],
)
def test_ctrl_c_leaves_nothing_running(tmp_path: Path, moment: str, number: signal.Signals) -> None:
    interrupt([*DEMO, "--keep"], tmp_path, moment, number)
