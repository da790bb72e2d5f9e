"""The balance of a file of packets: what was read, and what was not, by reason."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

from kwire.errors import FileError
from kwire.proxy.capture.packets.conversation import Content, Conversation


class Item(NamedTuple):
    """A line of the balance. lost: something is missing that may have been Kafka's."""

    name: str
    text: str
    lost: bool = False


@dataclass(slots=True)
class Balance:
    """Numbers of packets and bytes, and their reasons.

    not_tcp: packets without TCP, by what they have. unread: packets that may have had TCP, by what
    they are. connections, sizes: by content. missing: bytes of Kafka's connections, and of those
    that may be; cut: the part of them that packets were cut by. late: directions whose first bytes
    are missing. passed_over: bytes behind gaps that no frame was found in; before: those of
    connections that began before the file. unanswered: requests whose response may be missing;
    orphans: responses whose request is. given_up: connections that were not followed to their end.
    has_keys: a key log was given; undecrypted: connections that it has not opened. ended: why
    reading ended early.
    """

    packets: int = 0
    size: int = 0
    without_time: int = 0
    not_tcp: Counter[str] = field(default_factory=Counter)
    unread: Counter[str] = field(default_factory=Counter)
    connections: Counter[Content] = field(default_factory=Counter)
    sizes: Counter[Content] = field(default_factory=Counter)
    missing: int = 0
    cut: int = 0
    late: int = 0
    passed_over: int = 0
    before: int = 0
    unanswered: int = 0
    orphans: int = 0
    given_up: int = 0
    kernel_drops: int = 0
    has_keys: bool = False
    undecrypted: int = 0
    ended: FileError | None = None

    def add(self, conversation: Conversation) -> None:
        """Add a connection that has ended."""
        content = conversation.content
        self.connections[content] += 1
        self.undecrypted += conversation.is_unread and self.has_keys
        for direction in conversation.directions:
            self.sizes[content] += direction.read
            if content is Content.TLS or conversation.is_refused:
                continue
            self.missing += direction.missing
            self.cut += direction.cut
            self.late += direction.is_late
            if content is Content.KAFKA and direction.gaps:
                self.passed_over += direction.passed_over
            elif content is Content.KAFKA:
                self.before += direction.passed_over
        self.orphans += conversation.pairing.orphans
        self.unanswered += conversation.pairing.unanswered

    @property
    def items(self) -> list[Item]:
        """The lines that there are: of what was read, of what had no TCP, of what is missing."""
        contents = [
            Item(content.value, f"{_many(count, 'connection')}, {self.sizes[content]:,} bytes")
            for content in Content
            if (count := self.connections[content])
        ]
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in self.not_tcp.most_common())
        numbers = [
            (sum(self.not_tcp.values()), "not TCP", kinds),
            (self.without_time, "without time", f"{self.without_time:,} packets"),
            (self.before, "begun before", f"{self.before:,} bytes up to the first request"),
            (self.unanswered, "unknown", f"{_many(self.unanswered, 'response')} not in the file"),
            (self.orphans, "unpaired", f"{_many(self.orphans, 'response')} to missing requests"),
        ]
        missing, end = self.missing - self.cut, self.ended
        losses = [
            (missing, "missing", f"{missing:,} bytes that are not in the file"),
            (self.late, "missing", f"the first bytes of {_many(self.late, 'direction')}"),
            (self.cut, "cut", f"{self.cut:,} bytes at the ends of packets"),
            (self.passed_over, "passed over", f"{self.passed_over:,} bytes behind missing ones"),
            (self.undecrypted, "encrypted", f"{_many(self.undecrypted, 'connection')} of TLS"),
            (self.given_up, "given up", f"{self.given_up:,} of too many connections at once"),
        ]
        return [
            Item("packets", f"{self.packets:,}, {self.size:,} bytes"),
            *contents,
            *(Item(name, text) for count, name, text in numbers if count),
            *(Item(name, text, lost=True) for count, name, text in losses if count),
            *self.unread_items,
            *([Item("broken off", f"byte {end.offset}: {end.reason}", lost=True)] if end else []),
        ]

    @property
    def losses(self) -> list[str]:
        """A sentence for each line of what is missing or was not read."""
        return [f"{item.name}: {item.text}" for item in self.items if item.lost]

    @property
    def unread_items(self) -> list[Item]:
        """The lines of missing packets that belong to no connection: no notice tells of them."""
        kinds = [("not read", f"{count:,} {kind}") for kind, count in self.unread.items()]
        if self.kernel_drops:
            kinds.append(("dropped", f"{self.kernel_drops:,} packets by the system that captured"))
        return [Item(name, text, lost=True) for name, text in kinds]


def _many(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
