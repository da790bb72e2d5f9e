"""`kwire proxy --record-topic`: what passes goes into a topic of Kafka's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kwire.cli.errors import WrongUsage
from kwire.cli.screen import screen
from kwire.cli.tls_options import client_security

if TYPE_CHECKING:
    from kwire.net.security import Security
    from kwire.proxy.capture.record_topic import TopicAddress
    from kwire.proxy.capture.recorder import Recorder
    from kwire.proxy.flows.language import Expression

RecordTopic = Annotated[
    str | None,
    typer.Option(
        metavar="TOPIC@HOST:PORT",
        help="Record into this topic, too: a message a record; pip install 'kwire[topic]'.",
    ),
]


TopicConfig = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="With --record-topic: how to speak with its cluster, as a client.properties of"
        " Kafka's.",
    ),
]


def topic_address(text: str) -> TopicAddress:
    """The topic of an option."""
    from kwire.errors import InvalidValue
    from kwire.proxy.capture.record_topic import TopicAddress

    try:
        return TopicAddress.parse(text)
    except InvalidValue as error:
        raise WrongUsage(f"{error}.") from error


def topic_recording(
    topic: str | None,
    config: Path | None,
    meant: Expression | None,
    *,
    show_secrets: bool,
    frame_limit: int | None,
) -> TopicRecording | None:
    """What the options ask for. Raises WrongUsage."""
    if topic is None:
        if config is not None:
            raise WrongUsage("--topic-config is for --record-topic: give that as well.")
        return None
    from kwire.net.security import PLAINTEXT

    security = PLAINTEXT if config is None else client_security(config)
    return TopicRecording(topic_address(topic), security, meant, show_secrets, frame_limit)


@dataclass(frozen=True, slots=True)
class TopicRecording:
    """The topic to write down in what passes, or what is meant of it.

    frame_limit: bytes of a frame, else what fits into a message.
    """

    address: TopicAddress
    security: Security
    meant: Expression | None = None
    show_secrets: bool = False
    frame_limit: int | None = None

    @contextmanager
    def recorded(self) -> Iterator[Recorder]:
        """The sink that records. The first loss is told at once, and in the end how much was."""
        from kwire.proxy.capture.record_topic import Topic, TopicRecorder

        topic = Topic(self.address, self.security, told=_warn)
        recorder = TopicRecorder(
            topic,
            meant=self.meant,
            show_secrets=self.show_secrets,
            frame_limit=self.frame_limit,
        )
        try:
            with recorder:
                yield recorder
        finally:
            said = f"{recorder.events} events recorded into {self.address}"
            if recorder.dropped:
                said += f", {recorder.dropped} not: too much passes"
            if topic.lost:
                said += f", {topic.lost} records of them lost"
            lossy = bool(recorder.dropped or topic.lost)
            screen(stderr=True).print(said, style="yellow" if lossy else "dim")


def _warn(sentence: str) -> None:
    screen(stderr=True).print(sentence, style="red")
