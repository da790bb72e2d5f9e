"""A case: a sentence about clients, its source, the faults that a client meets, what is judged."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from ssl import SSLContext
from typing import Any

from kwire.conform.clients.cluster import Cluster
from kwire.conform.clients.play import Play
from kwire.conform.clients.script import ScriptRule
from kwire.conform.vocabulary import SentenceSource


class ClientTask(Enum):
    """A task that a program has to do, `{task}` of its command.

    PRODUCE: one record after the other to partition 0. BURST: all at once. CONSUME: read partition
    0 from its beginning. GROUP, GROUP_CONSUMER: read as a member of a group, of the classic
    protocol or of KIP-848's. TRANSACTION: one with the records. ADMIN: create, list, describe and
    delete a topic. CONTROLLERS: describe the quorum at its controllers (KIP-919).
    """

    PRODUCE = "produce"
    BURST = "burst"
    CONSUME = "consume"
    GROUP = "group"
    GROUP_CONSUMER = "group-consumer"
    TRANSACTION = "transaction"
    ADMIN = "admin"
    CONTROLLERS = "controllers"

    @property
    def reads(self) -> bool:
        """True for a task that reads the records, which are there before it begins."""
        return self in (ClientTask.CONSUME, ClientTask.GROUP, ClientTask.GROUP_CONSUMER)


RECORDS = 3
"""The records of a task, `{records}`."""
VALUES = tuple(f"r{number}" for number in range(RECORDS))

Judge = Callable[[Play], None]
"""Returns for PASS, else raises Deviation, Skipped or Informed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientCase:
    """One sentence, made checkable. id: `section/number`, given by its section.

    rules: makes the rules of one play. arrange: prepares the cluster, before the client starts.
    may_fail: the client may end with an error; else its task has to be done in spite of all. tls:
    with which a node listens, by its id. environment: of the program, its credentials.
    """

    sentence: str
    source: SentenceSource
    task: ClientTask
    judge: Judge
    rules: Callable[[], Sequence[ScriptRule]] = tuple
    arrange: Callable[[Cluster], object] = lambda cluster: None
    id: str = ""
    may_fail: bool = False
    tls: Callable[[int], SSLContext] | None = None
    environment: Mapping[str, str] = field(default_factory=dict)


class ClientSection:
    """Cases of one subject, declared one by one in its module, each with its number.

        SECTION = ClientSection("client/throttling", "Throttle times are kept")

        @SECTION.case(1, kip(219, "Proposed Changes"), ClientTask.PRODUCE, rules=lambda: [...])
        def _(play: Play) -> None:
            "A producer that is throttled sends nothing until the time is over."
            ...

    A number is never given again.
    """

    def __init__(self, path: str, title: str) -> None:
        self.path = path
        self.title = title
        self._cases: dict[int, ClientCase] = {}

    def __iter__(self) -> Iterator[ClientCase]:
        return (case for _, case in sorted(self._cases.items()))

    def __setitem__(self, number: int, case: ClientCase) -> None:
        assert number not in self._cases, f"{self.path}/{number} is given twice"
        self._cases[number] = replace(case, id=f"{self.path}/{number}")

    def case(
        self, number: int, source: SentenceSource, task: ClientTask, **options: Any
    ) -> Callable[[Judge], Judge]:
        """Return a decorator that makes a case of a judging function; its docstring is it.

        options: as ClientCase has them.
        """

        def declare(judge: Judge) -> Judge:
            sentence = " ".join((judge.__doc__ or "").split())
            self[number] = ClientCase(
                sentence=sentence, source=source, task=task, judge=judge, **options
            )
            return judge

        return declare
