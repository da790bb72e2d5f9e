"""The requests themselves, as a client sends them without faults."""

from __future__ import annotations

from kwire.conform.clients.case import ClientCase, ClientSection, ClientTask
from kwire.conform.clients.play import Play
from kwire.conform.vocabulary import ConformanceVerdict, Deviation, guide

SECTION = ClientSection("client/requests", "Requests are as their schemas have them")


def _nothing_left_over(play: Play) -> None:
    for request in play.requests:
        if request.left_over:
            raise Deviation(
                "requests that end with their bodies",
                f"{request.name} with {request.left_over} more bytes, which Kafka passes over",
                ConformanceVerdict.DIFFERS,
            )


for number, task in enumerate(ClientTask, 1):
    SECTION[number] = ClientCase(
        sentence=f"The requests of the task {task.value} end with their bodies.",
        source=guide("Protocol Primitive Types"),
        task=task,
        judge=_nothing_left_over,
    )
