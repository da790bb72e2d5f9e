"""A decoded message as a tree of names and printable values, whatever will draw it.

Every field of the version is there in wire order, tagged ones where they were sent; secrets are
hidden before anything else sees them, unless they are asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Protocol

from kwire.codec.declaration import Group
from kwire.messages.a04_leader_and_isr import LeaderAndIsrRequest
from kwire.messages.a06_update_metadata import UpdateMetadataRequest
from kwire.messages.a58_envelope import EnvelopeRequest, EnvelopeResponse
from kwire.messages.control_requests import ControlRequestType
from kwire.messages.records.zk_migration_state import ZkMigrationStateRecord
from kwire.messages.zk_migration_state import ZkMigrationState
from kwire.net.frames import RequestFrame, ResponseFrame
from kwire.proxy.flows.decoded import DecodedFlow
from kwire.proxy.flows.masks import holds_secrets, is_secret
from kwire.proxy.flows.principal import host_text, principal_text
from kwire.proxy.flows.text import MASKED, size_text, value_text
from kwire.proxy.flows.walk import RECORDS_FIELDS, fields

ELEMENTS_SHOWN = 1000
"""Elements of an array that become branches."""

NAMED_NUMBERS: Mapping[tuple[type[Group], str], type[IntEnum]] = {
    (LeaderAndIsrRequest, "type"): ControlRequestType,
    (UpdateMetadataRequest, "type"): ControlRequestType,
    (ZkMigrationStateRecord, "zk_migration_state"): ZkMigrationState,
}
"""Fields whose numbers have names, which stand behind them as those of error codes do (KIP-866)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """A field or a struct. value: printable text, empty where there are children only."""

    name: str
    value: str = ""
    children: tuple[Tree, ...] = ()


class ReadRecords(Protocol):
    """Makes branches of the record batches in a records field."""

    def __call__(self, data: bytes, /, *, secrets: bool) -> Sequence[Tree]: ...


def flow_trees(
    decoded: DecodedFlow, read_records: ReadRecords | None = None, *, secrets: bool = False
) -> tuple[Tree, ...]:
    """Return the request and the response of a flow, with those in its envelope, if they are known.

    read_records: shows what is in records fields; without it they are shortened bytes. secrets:
    show them.
    """
    frames = (("Request", decoded.request), ("Response", decoded.response))
    return tuple(
        _frame_tree(f"{decoded.flow.api}{kind}", frame, decoded, read_records, secrets)
        for kind, frame in frames
        if frame is not None
    )


def message_tree(
    name: str,
    message: Group,
    version: int,
    read_records: ReadRecords | None = None,
    *,
    secrets: bool = False,
) -> Tree:
    """Return the tree of a message at a version. name: of the root. secrets: show them."""
    hidden = None if secrets else holds_secrets(message)
    branches = _Branches(version, read_records, hidden)
    return Tree(name=name, value=f"v{version}", children=branches.of(message))


def _frame_tree(
    title: str,
    frame: RequestFrame | ResponseFrame,
    decoded: DecodedFlow,
    read_records: ReadRecords | None,
    secrets: bool,
) -> Tree:
    is_request = isinstance(frame, RequestFrame)
    tree = message_tree(title, frame.body, frame.version, read_records, secrets=secrets)
    header = _Branches(2 if is_request else 1, None, hides_tags=False).of(frame.header)
    inner: tuple[Tree, ...] = ()
    if decoded.envelope is not None:
        kind = "Request" if is_request else "Response"
        trees = flow_trees(decoded.envelope, read_records, secrets=secrets)
        inner = tuple(tree for tree in trees if tree.name.endswith(kind))
    head = Tree(name="header", children=header)
    return Tree(name=tree.name, value=tree.value, children=(head, *tree.children, *inner))


class _Branches:
    """Makes the branches of one message.

    hides_tags: unknown tags may be secrets of a new kind. None: nothing is hidden.
    """

    def __init__(
        self, version: int, read_records: ReadRecords | None, hides_tags: bool | None
    ) -> None:
        self._version = version
        self._read_records = read_records
        self._hides_tags = hides_tags
        self._secrets = hides_tags is None

    def of(self, group: Group) -> tuple[Tree, ...]:
        """Return one branch a field."""
        branches = [
            Tree(name=name, value=MASKED)
            if not self._secrets and is_secret(group, name)
            else _special(group, name, value) or self._branch(name, value)
            for name, value in fields(group, self._version)
        ]
        for tag, data in (group.unknown_tags or {}).items():
            value = MASKED if self._hides_tags else value_text(data)
            branches.append(Tree(name=f"unknown tag {tag}", value=value))
        return tuple(branches)

    def _branch(self, name: str, value: Any) -> Tree:
        if isinstance(value, Group):
            return Tree(name=name, children=self.of(value))
        if isinstance(value, list):
            elements = value[:ELEMENTS_SHOWN]
            children = tuple(
                self._branch(str(index), element) for index, element in enumerate(elements)
            )
            return Tree(name=name, value=_count(len(value)), children=children)
        if self._read_records is not None and name in RECORDS_FIELDS and value:
            children = tuple(self._read_records(value, secrets=self._secrets))
            return Tree(name=name, value=size_text(len(value)), children=children)
        return Tree(name=name, value=value_text(value, name))


def _count(length: int) -> str:
    suffix = f", {ELEMENTS_SHOWN} shown" if length > ELEMENTS_SHOWN else ""
    return f"{length} element{'' if length == 1 else 's'}{suffix}"


def _special(group: Group, name: str, value: Any) -> Tree | None:
    """Return the branch of a field with a text of its own, None for any other field.

    The content of an Envelope is shown decoded, not as bytes.
    """
    names = NAMED_NUMBERS.get((type(group), name))
    if names is not None and value in set(names):
        return Tree(name=name, value=f"{value} {names(value).name}")
    if isinstance(group, EnvelopeRequest | EnvelopeResponse) and name.endswith("_data"):
        return Tree(name=name, value="null" if value is None else size_text(len(value)))
    if isinstance(group, EnvelopeRequest) and name == "client_host_address":
        return Tree(name=name, value=host_text(value))
    if isinstance(group, EnvelopeRequest) and name == "request_principal" and value:
        return Tree(name=name, value=principal_text(value))
    return None


def lines(tree: Tree, indent: int = 0) -> Iterator[str]:
    """Yield the tree as indented lines, for logs and pipes."""
    yield f"{'  ' * indent}{tree.name}{': ' if tree.value else ''}{tree.value}"
    for child in tree.children:
        yield from lines(child, indent + 1)
