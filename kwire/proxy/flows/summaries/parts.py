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
    """Return `host:port host:port`."""
    return " ".join(f"{listener.host}:{listener.port}" for listener in listeners)


def failed(code: int, message: str | None = None) -> str:
    """Return an error's name and the node's message about it; "" for code 0."""
    if not code:
        return ""
    return f"{error_codes.name(code)} ({message})" if message else error_codes.name(code)


class ErrorResult(Protocol):
    """A response that is an error code, with or without a message, and nothing else."""

    error_code: int
    error_message: str | None


def done(response: ErrorResult | None) -> str:
    """Return "done", or the error; "" if no response came."""
    if response is None:
        return ""
    return failed(response.error_code, response.error_message) or "done"


def leader(leader_id: int, epoch: int) -> str:
    """Return the leader of an epoch, or that there is none."""
    return f"leader {leader_id} epoch {epoch}" if leader_id >= 0 else f"no leader, epoch {epoch}"


def ids(numbers: Iterable[int]) -> str:
    """Return `1,2,3`."""
    return ",".join(map(str, numbers))


def directory(directory_id: UUID) -> str:
    """Return a directory id as an addition to a node id; "" if there is none."""
    return f"@{uuid_text(directory_id)}" if directory_id.int else ""


def with_answer(asked: str, answered: str) -> str:
    """Return `asked: answered`, or only what was asked if there is no answer."""
    return f"{asked}: {answered}" if answered else asked


def few(texts: Sequence[str], limit: int = 3) -> str:
    """Return the first texts, and the number of those beyond."""
    more = len(texts) - limit
    return " ".join(texts[:limit]) + (f" and {more} more" if more > 0 else "")
