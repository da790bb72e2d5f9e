"""Phrases that the summaries share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol
from uuid import UUID

from kwire import error_codes
from kwire.text.ids import uuid_text


class HostAndPort(Protocol):
    """Anything with a host and a port."""

    host: str
    port: int


def endpoints(listeners: Iterable[HostAndPort]) -> str:
    """`host:port host:port`."""
    return " ".join(f"{listener.host}:{listener.port}" for listener in listeners)


def failed(code: int, message: str | None = None) -> str:
    """An error's name and what the node said about it; empty for code 0."""
    if not code:
        return ""
    return f"{error_codes.name(code)} ({message})" if message else error_codes.name(code)


class ErrorResult(Protocol):
    """A response that is an error code, with or without a message, and nothing else."""

    error_code: int
    error_message: str | None


def done(response: ErrorResult | None) -> str:
    """That it worked, or how it failed; empty where no response came."""
    if response is None:
        return ""
    return failed(response.error_code, response.error_message) or "done"


def leader(leader_id: int, epoch: int) -> str:
    """Who leads in which epoch, or that nobody does."""
    return f"leader {leader_id} epoch {epoch}" if leader_id >= 0 else f"no leader, epoch {epoch}"


def ids(numbers: Iterable[int]) -> str:
    """`1,2,3`."""
    return ",".join(map(str, numbers))


def directory(directory_id: UUID) -> str:
    """A directory id as an addition to a node id; nothing where there is none."""
    return f"@{uuid_text(directory_id)}" if directory_id.int else ""


def outcome(asked: str, answered: str) -> str:
    """`asked: answered`; only the one where the other is not known."""
    return f"{asked}: {answered}" if answered else asked


def plural(number: int, noun: str) -> str:
    """`1 topic`, `2 topics`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def few(texts: Sequence[str], limit: int = 3) -> str:
    """The first of them, and how many there are beyond."""
    more = len(texts) - limit
    return " ".join(texts[:limit]) + (f" and {more} more" if more > 0 else "")
