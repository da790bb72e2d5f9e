"""The document of a run: all that is known of it, as JSON holds it, written and read again.

All other reports are made from documents, of a run just over or of a file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

import msgspec

from kwire import __version__
from kwire.conform.check import Check
from kwire.conform.connection import PATIENCE
from kwire.conform.reaction import ConnectionState
from kwire.conform.result import CheckResult, ConformanceRun
from kwire.conform.sources import address_of
from kwire.conform.target import Target
from kwire.conform.transcript import Chunk
from kwire.conform.vocabulary import ConformanceVerdict, SentenceSource
from kwire.errors import InvalidValue
from kwire.messages.registry import api_name

LARGEST = 256 * 1024 * 1024
"""Bytes of a file that is read."""
BY_HAND = "started by hand"
"""The address of a client that has no command."""


class BytesPart(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Bytes in one direction. sent: by kwire. size: of all; hex may be cut, or empty for a login's.

    peer: `host:port` of the node. probe: True if the check was over, for what became of it.
    silent: seconds in which nothing came, in place of bytes.
    """

    sent: bool
    peer: str
    size: int
    hex: str
    probe: bool = False
    silent: float = 0.0


class CheckPart(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A check, or a member of a family, with both verdicts. seconds: the time it took.

    answer: the verdict on what was answered; connection_verdict: on what became of the connection.
    sentence_class: specification, schema or java. address: of the source.
    """

    id: str
    verdict: ConformanceVerdict
    answer: ConformanceVerdict
    connection: ConnectionState
    connection_verdict: ConformanceVerdict
    sentence: str = ""
    source: str = ""
    sentence_class: str = ""
    address: str = ""
    expected: str = ""
    came: str = ""
    reason: str = ""
    left_behind: tuple[str, ...] = ()
    seconds: float = 0.0
    bytes: tuple[BytesPart, ...] = ()
    members: tuple[CheckPart, ...] = ()

    @property
    def section(self) -> str:
        """The id without its number."""
        return self.id.rpartition("/")[0]

    @property
    def bad_end(self) -> str:
        """The connection after the check, if it may not be so and `came` does not say it."""
        text = f"the connection is {self.connection.value}"
        is_said = self.came.endswith(f", {text}")
        return text if self.connection_verdict.is_bad and not is_said else ""

    @property
    def worst(self) -> CheckPart:
        """The first of a family's members with its verdict; a check that is none itself."""
        return next((part for part in self.members if part.verdict is self.verdict), self)

    @property
    def last_api(self) -> str:
        """The name of the API that was asked last; empty if nothing was."""
        sent = [part.hex for part in self.bytes if part.sent and not part.probe]
        keys = [int(text[8:12], 16) for text in sent if len(text) >= 16]
        return api_name(keys[-1]) if keys else ""


class CausePart(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Failed checks of one cause, perhaps: asked for one API, the server did the same.

    came: in all of them. api: of their last requests.
    """

    api: str
    came: str
    checks: tuple[str, ...]


class ServerPart(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The server as it was seen. api_versions: the lowest and the highest by API.

    Of a client (role `client`): its command in place of an address, and the versions that it sent.
    patience: seconds after which it counted as silent; 0 in files from before it was measured.
    """

    address: str
    role: str
    security: str
    cluster_id: str | None
    nodes: dict[str, str]
    voters: tuple[int, ...]
    api_versions: dict[str, tuple[int, int]]
    patience: float = 0.0


class RunDocument(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A run. name: of the server, as the user calls it. problem: why the run ended early.

    suspects: ids of checks during which the server died, and none of which it is known to die of.
    causes: two failed checks or more that may have one.
    started_ms: ms since 1970. unexpected: ids that are not as the expectations have them; None
    without expectations.
    """

    name: str
    kwire: str
    server: ServerPart
    started_ms: int
    seconds: float
    problem: str
    suspects: tuple[str, ...]
    counts: dict[str, int]
    checks: tuple[CheckPart, ...]
    causes: tuple[CausePart, ...] = ()
    unexpected: tuple[str, ...] | None = None

    def __iter__(self) -> Iterator[CheckPart]:
        return iter(self.checks)


class Sentence(Protocol):
    """A check or a case: both have a sentence and its source."""

    @property
    def sentence(self) -> str:
        """The sentence."""
        ...

    @property
    def source(self) -> SentenceSource:
        """The place where it comes from."""
        ...


class BadDocument(InvalidValue):
    """A file is no document of a run."""


def document_of(
    run: ConformanceRun,
    checks: Sequence[Check],
    *,
    started: float,
    name: str = "",
    unexpected: Sequence[str] | None = None,
) -> RunDocument:
    """Return the document of a run. checks: those that were asked for. started: s since 1970."""
    by_id = {check.id: check for check in checks}
    parts = tuple(check_part(result, by_id.get(result.id)) for result in run)
    return RunDocument(
        name=name or str(run.target.address),
        kwire=__version__,
        server=_server(run.target),
        started_ms=int(started * 1000),
        seconds=round(run.seconds, 3),
        problem=run.problem,
        suspects=run.suspects,
        counts={verdict.value: run.counts[verdict] for verdict in ConformanceVerdict},
        checks=parts,
        causes=_causes(parts),
        unexpected=None if unexpected is None else tuple(unexpected),
    )


def _causes(parts: Sequence[CheckPart]) -> tuple[CausePart, ...]:
    """Return the causes of two failed checks or more, the one of most checks first."""
    ids: dict[tuple[str, str], list[str]] = {}
    for part in parts:
        if part.verdict.is_bad and part.came:
            worst = part.worst
            ids.setdefault((worst.last_api, worst.came), []).append(part.id)
    groups = sorted(ids.items(), key=lambda group: -len(group[1]))
    return tuple(
        CausePart(api=api, came=came, checks=tuple(names))
        for (api, came), names in groups
        if len(names) > 1
    )


def check_part(result: CheckResult, check: Sentence | None = None) -> CheckPart:
    """Return a result as a part of a document. check: None for a member of a family."""
    return CheckPart(
        id=result.id,
        verdict=result.verdict,
        answer=result.answer,
        connection=result.connection,
        connection_verdict=result.connection_verdict,
        expected=result.expected,
        came=result.came,
        reason=result.reason,
        left_behind=result.left_behind,
        seconds=round(result.seconds, 4),
        # A family has its members' bytes: those of the whole would be one of theirs again.
        bytes=() if result.members else tuple(map(_bytes, result.chunks)),
        members=tuple(map(check_part, result.members)),
        **(about(check) if check else {}),
    )


def about(check: Sentence) -> dict[str, str]:
    """Return what a part has of its check: the sentence, and where it comes from."""
    return {
        "sentence": check.sentence,
        "source": str(check.source),
        "sentence_class": check.source.sentence_class.value,
        "address": address_of(check.source),
    }


def _bytes(chunk: Chunk) -> BytesPart:
    return BytesPart(
        sent=chunk.sent,
        peer=chunk.peer,
        size=chunk.size,
        hex=chunk.data.hex(),
        probe=chunk.is_probe,
        silent=chunk.silent,
    )


def _server(target: Target) -> ServerPart:
    offered = target.versions.api_versions
    return ServerPart(
        address=str(target.address),
        role=target.role.value,
        security=target.security.protocol,
        cluster_id=target.cluster_id,
        nodes={str(node): str(address) for node, address in sorted(target.nodes.items())},
        voters=target.voters,
        api_versions={
            api_name(key): (versions.min_version, versions.max_version)
            for key, versions in sorted(offered.items())
        },
        patience=round(PATIENCE * target.slowness, 3),
    )


def to_json(document: RunDocument) -> bytes:
    """Return a document as JSON, indented, with a line's end."""
    return msgspec.json.format(msgspec.json.encode(document), indent=1) + b"\n"


def to_object(document: RunDocument) -> Any:
    """Return a document as a value of JSON."""
    return msgspec.to_builtins(document)


def read_document(path: Path) -> RunDocument:
    """Read a document from a file of JSON. Raises BadDocument, which names the file."""
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
    except OSError as error:
        raise BadDocument(f"cannot read {path}: {error.strerror}") from error
    if len(data) > LARGEST:
        raise BadDocument(f"{path} has more than {LARGEST} bytes: it is no result of a run")
    try:
        return msgspec.json.decode(data, type=RunDocument)
    except (msgspec.DecodeError, RecursionError) as error:
        raise BadDocument(f"{path} is no result of `kwire conform`: {error}") from error
