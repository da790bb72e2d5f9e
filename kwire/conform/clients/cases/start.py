"""Each task at a cluster without faults: what a client cannot do here is not judged elsewhere."""

from __future__ import annotations

from kwire.conform.clients.case import ClientCase, ClientSection, ClientTask
from kwire.conform.clients.play import Play
from kwire.conform.vocabulary import Deviation, guide

SECTION = ClientSection("client/start", "Tasks without faults")


def _judge(play: Play) -> None:
    if not play.requests:
        raise Deviation("requests", f"{len(play.connections)} connections, and no request")


for number, task in enumerate(ClientTask, 1):
    SECTION[number] = ClientCase(
        sentence=f"A client does the task {task.value} at a cluster without faults.",
        source=guide("The Messages"),
        task=task,
        judge=_judge,
    )
