"""Recording into a Kafka topic, each record of a capture in a message of its own.

A message's timestamp is the producer's, not that of the capture, or the topic's retention would
delete old captures at once. If the topic is down, full or slow, the recording loses messages; the
traffic does not wait.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self
from uuid import uuid4

from kwire.capture import CaptureRecord
from kwire.capture.file import Encoded
from kwire.capture.message import message_head
from kwire.errors import InvalidValue, LocalError
from kwire.extras import pip_line
from kwire.net.address import Address
from kwire.net.security import PLAINTEXT, Security
from kwire.net.tls import ClientTls
from kwire.proxy.capture.recorder import QUEUE_LIMIT, Recorder, log_stop
from kwire.proxy.flows.flow import Event, Flow, Notice, NoticeKind
from kwire.proxy.flows.language import Expression
from kwire.text.untrusted import cut_repr

if TYPE_CHECKING:
    from confluent_kafka import KafkaError, Message

CLIENT = "kwire-recorder-"
"""The beginning of recorders' client ids. No recorder records them: if it reached the topic through
a proxy, its own or another recorder's, each message would cause another one without end."""

FRAME_LIMIT = 900_000
"""Bytes of a frame in a message; the other fields have the rest of Kafka's default of 1 MiB."""

TIMEOUT = 30.0
"""Seconds for which a message may wait for the topic."""

CLOSE = 10.0
"""Seconds for which closing waits for the last messages."""

_QUEUE_KIB = 64 * 1024
_TOPIC = re.compile(r"(?P<topic>[A-Za-z0-9._-]{1,249})@(?P<servers>.+)")

logger = logging.getLogger(__name__)


class TopicUnavailable(LocalError):
    """The package that recording into a topic needs is not installed."""


@dataclass(frozen=True, slots=True)
class TopicAddress:
    """A topic and the bootstrap servers of its cluster."""

    topic: str
    servers: tuple[Address, ...]

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `captures@host:port,host:port`. Raises InvalidValue."""
        match = _TOPIC.fullmatch(text)
        if match is None:
            raise InvalidValue(f"{cut_repr(text)} is no topic: write TOPIC@HOST:PORT")
        return cls(match["topic"], tuple(map(Address.parse, match["servers"].split(","))))

    @property
    def bootstrap(self) -> str:
        """The servers in the form of Kafka's `bootstrap.servers`."""
        return ",".join(map(str, self.servers))

    def __str__(self) -> str:
        return f"{self.topic}@{self.bootstrap}"


def librdkafka(security: Security) -> dict[str, str]:
    """Return librdkafka's properties for a security. Raises BadTls, InvalidValue.

    Without authorities librdkafka uses those of the system.
    """
    properties = {"security.protocol": security.protocol}
    if security.tls is not None:
        properties |= _librdkafka_tls(security.tls)
    if (sasl := security.sasl) is not None:
        if sasl.tokens is not None or sasl.is_delegation_token:
            what = "a delegation token" if sasl.is_delegation_token else sasl.mechanism
            raise InvalidValue(f"recording into a topic cannot authenticate by {what}")
        properties["sasl.mechanism"] = sasl.mechanism.value
        properties |= {"sasl.username": sasl.username, "sasl.password": sasl.password}
    return properties


def _librdkafka_tls(tls: ClientTls) -> dict[str, str]:
    key = tls.key or tls.certificate
    files = {"ca": tls.authorities, "certificate": tls.certificate, "key": key}
    properties = {f"ssl.{name}.location": str(path) for name, path in files.items() if path}
    properties["ssl.endpoint.identification.algorithm"] = "https" if tls.check_name else "none"
    if tls.truststore is not None:
        properties["ssl.ca.pem"] = tls.truststore.authorities()
    if tls.keystore is not None:
        identity = tls.keystore.identity()
        properties |= {"ssl.certificate.pem": identity.certificates, "ssl.key.pem": identity.key}
        if identity.password is not None:
            properties["ssl.key.password"] = identity.password
    return properties


class TopicProducer:
    """The producer of a recording.

    lost: messages that were not delivered. report: called in the thread that writes, once, with a
    sentence about the first lost message, or about a cluster that refuses the user. Raises
    TopicUnavailable, BadTls.
    """

    def __init__(
        self,
        address: TopicAddress,
        security: Security = PLAINTEXT,
        *,
        timeout: float = TIMEOUT,
        report: Callable[[str], None] = log_stop,
    ) -> None:
        try:
            from confluent_kafka import Producer
        except ImportError as error:
            raise TopicUnavailable(
                f"recording into a topic needs confluent-kafka: {pip_line('topic')}"
            ) from error
        if security.tls is not None:
            security.tls.context()  # its errors are clearer than those of librdkafka
        self.address = address
        self.lost = 0
        self._report = report
        self._has_reported = False
        self._trouble = ""
        properties = {
            "bootstrap.servers": address.bootstrap,
            "client.id": f"{CLIENT}{uuid4()}",
            "enable.idempotence": True,
            "error_cb": self._troubled,
            "linger.ms": 50,
            "message.timeout.ms": round(timeout * 1000),
            "queue.buffering.max.kbytes": _QUEUE_KIB,
            **librdkafka(security),
        }
        self._producer = Producer(properties, logger=logger)

    @property
    def name(self) -> str:
        """The topic's address, for messages to users."""
        return str(self.address)

    def write(self, now: float, *records: Encoded) -> None:
        """Queue messages in the producer; count those that find no room as lost."""
        for record in records:
            assert isinstance(record, bytes)  # a message is one record, whole
            try:
                self._producer.produce(self.address.topic, record, on_delivery=self._delivered)
            except BufferError:
                self._lose("too many wait for it")
        self._producer.poll(0)

    def tick(self, now: float, flush_after: float) -> None:
        """Let the producer report delivered and lost messages."""
        self._producer.poll(0)

    def close(self) -> None:
        """Wait for the last messages, and give up those that are not delivered in time."""
        if self._producer.flush(CLOSE):
            self._producer.purge()
            self._producer.flush(CLOSE)

    def _delivered(self, error: KafkaError | None, message: Message) -> None:
        if error is not None:
            self._lose(error.str())

    def _troubled(self, error: KafkaError) -> None:
        """Remember an error of the producer, which may be the reason for messages lost later."""
        self._trouble = f" ({error.str()})"
        if error.code() == error._AUTHENTICATION:
            self._tell(error.str())

    def _lose(self, reason: str) -> None:
        self.lost += 1
        self._tell(f"{reason}{self._trouble}")

    def _tell(self, reason: str) -> None:
        if not self._has_reported:
            self._has_reported = True
            self._report(f"{self.name} does not accept the recording: {reason}; traffic goes on")


class TopicRecorder(Recorder):
    """A sink that records events into a topic while the context lasts."""

    def __init__(
        self,
        topic: TopicProducer,
        *,
        only: Expression | None = None,
        show_secrets: bool = False,
        frame_limit: int | None = None,
        limit: int = QUEUE_LIMIT,
    ) -> None:
        most = min(frame_limit or FRAME_LIMIT, FRAME_LIMIT)
        super().__init__(topic, only=only, show_secrets=show_secrets, frame_limit=most, limit=limit)
        self._head = message_head()
        self._opened: dict[int, Notice] = {}

    def __call__(self, event: Event) -> None:
        """Take an event from the data path, unless it is of a recorder's connection.

        Only the first request has the client id: the notice of the opening waits for it.
        """
        opened = self._opened.pop(event.connection.number, None)
        if _is_recorders(event):
            return
        if isinstance(event, Notice) and event.kind is NoticeKind.OPENED:
            self._opened[event.connection.number] = event
            return
        if opened is not None:
            super().__call__(opened)
        super().__call__(event)

    def __exit__(self, *exc: object) -> None:
        for opened in self._opened.values():
            if not _is_recorders(opened):
                super().__call__(opened)
        super().__exit__(*exc)

    def _batch_encoder(self) -> None:
        """Each record is a message of its own."""

    def _encode(self, record: CaptureRecord) -> bytes:
        return self._head + self._encoder.encode(self._cut(record))


def _is_recorders(event: Event) -> bool:
    client_id = event.client_id if isinstance(event, Flow) else event.connection.client_id
    return (client_id or "").startswith(CLIENT)
