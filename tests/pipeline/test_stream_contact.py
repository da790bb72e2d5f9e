"""The warnings while a topic is read and its cluster stops answering."""

import pytest
from pyspark.errors import PySparkException

from kwire.pipeline.streaming import contact
from kwire.pipeline.streaming.contact import TopicUnreadable, watched
from kwire.proxy.capture.record_topic import TopicAddress

TOPIC = TopicAddress.parse("captured@kafka:9092")
GONE = TopicUnreadable("topic captured cannot be read.")


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> list[TopicUnreadable | None]:
    """Answer each check with the next of these outcomes."""
    coming: list[TopicUnreadable | None] = []

    def ensure_topic(address: TopicAddress) -> None:
        if (reason := coming.pop(0)) is not None:
            raise reason

    monkeypatch.setattr(contact, "ensure_topic", ensure_topic)
    return coming


def test_a_loss_is_told_once_and_so_is_its_end(answers: list[TopicUnreadable | None]) -> None:
    answers += [None, GONE, GONE, None, None]
    said: list[str] = []
    with watched(TOPIC, said.append, every=0) as look:
        while answers:
            look()
    assert said == [f"{GONE} Spark keeps trying.", "captured@kafka:9092 can be read again."]


def test_no_look_comes_before_its_time(answers: list[TopicUnreadable | None]) -> None:
    with watched(TOPIC, pytest.fail, every=3600) as look:
        look()


def test_what_spark_gives_up_for_is_told(answers: list[TopicUnreadable | None]) -> None:
    answers += [GONE]
    with (
        pytest.raises(TopicUnreadable, match=r"read\. Run the same command again to go on\."),
        watched(TOPIC, pytest.fail),
    ):
        raise PySparkException("Timed out waiting for a node assignment.")


def test_what_is_no_fault_of_the_clusters_is_sparks(answers: list[TopicUnreadable | None]) -> None:
    answers += [None]
    with pytest.raises(PySparkException, match="disk"), watched(TOPIC, pytest.fail):
        raise PySparkException("The disk is full.")
