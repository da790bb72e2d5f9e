"""Parts of sentences: ids, numbers of things, and the first of many."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator


def listed(ids: Iterable[int]) -> str:
    """Return ids for a sentence: `1, 2 and 3`."""
    return joined([str(node_id) for node_id in sorted(ids)])


def joined(texts: Iterable[str]) -> str:
    """Return texts for a sentence: `a, b and c`; raises ValueError without any."""
    *most, last = texts
    return f"{', '.join(most)} and {last}" if most else last


def ids_text(noun: str, ids: Collection[int]) -> str:
    """Return `broker 1`, `brokers 1 and 2`."""
    return f"{noun}{'s' * (len(ids) > 1)} {listed(ids)}"


def count(number: int, noun: str, plural: str = "") -> str:
    """Return `1 broker`, `2 brokers`. plural: if it is not the noun and an s."""
    return f"{number} {noun}" if number == 1 else f"{number} {plural or noun + 's'}"


def examples(texts: Iterable[str], limit: int = 5) -> Iterator[str]:
    """Yield the first texts, and how many more there are."""
    texts = list(texts)
    yield from texts[:limit]
    if len(texts) > limit:
        yield f"and {len(texts) - limit} more"
