"""The order in which Kafka 3.9 writes fields: that of Java's and Scala's hash maps.

Znodes are compared and written byte for byte, so kwire puts fields where Scala 2.13 and Java 17 put
them. The classes: scala.collection.immutable.HashMap (a CHAMP trie), scala.collection.mutable
.HashMap, java.util.HashMap, java.util.Properties (a ConcurrentHashMap).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeVar

from kwire.text.java_hash import java_hash

V = TypeVar("V")

_SMALL = 4
"""Scala's immutable maps of up to four entries keep the order of insertion (Map1 to Map4)."""

_WORD = 0xFFFFFFFF


def spread(text: str) -> int:
    """Return the hash with its upper half mixed into the lower one, as most of the maps do."""
    value = java_hash(text)
    return value ^ (value >> 16)


def _improved(text: str) -> int:
    # scala.collection.Hashing.improve
    value = java_hash(text)
    value = (value + ~(value << 9)) & _WORD
    value ^= value >> 14
    value = (value + (value << 4)) & _WORD
    return value ^ (value >> 10)


def scala_immutable(entries: Mapping[str, V]) -> dict[str, V]:
    """Return the entries in the order of a Scala `Map(...)`."""
    if len(entries) <= _SMALL:
        return dict(entries)
    order = _trie_order({key: _improved(key) for key in entries}, list(entries), 0)
    return {key: entries[key] for key in order}


def _trie_order(hashes: Mapping[str, int], keys: list[str], shift: int) -> Iterator[str]:
    """Yield the keys of one node of the trie: first those alone in their slot, then deeper ones.

    The keys are a node's because their hashes agree in the lower `shift` bits; 5 bits a level.
    """
    if shift >= 32:
        yield from keys  # equal hashes: the order of insertion
        return
    slots: dict[int, list[str]] = {}
    for key in keys:
        slots.setdefault((hashes[key] >> shift) & 31, []).append(key)
    for slot in sorted(slots):
        if len(slots[slot]) == 1:
            yield slots[slot][0]
    for slot in sorted(slots):
        if len(slots[slot]) > 1:
            yield from _trie_order(hashes, slots[slot], shift + 5)


def scala_mutable(entries: Mapping[str, V], *, literal: int = 0) -> dict[str, V]:
    """Return the entries in the order of a Scala `mutable.Map`.

    literal: how many entries stand in `mutable.Map(...)`; the others were added later. The table is
    made for that many, and doubles when it would become three quarters full. Within a slot the
    entries are in the order of their hashes.
    """
    table = _power_of_two(int((literal + 1) / 0.75)) if literal else 16
    while len(entries) >= table * 3 // 4:
        table *= 2

    def slot(key: str) -> tuple[int, int]:
        value = spread(key)
        return value & (table - 1), _signed(value)

    return {key: entries[key] for key in sorted(entries, key=slot)}


def java_hash_map(entries: Mapping[str, V]) -> dict[str, V]:
    """Return the entries in the order of a java.util.HashMap into which they were put in order."""
    table = 16
    while len(entries) > table * 3 // 4:
        table *= 2
    # Splitting a bin keeps the order of its entries, so the last table decides.
    return {key: entries[key] for key in sorted(entries, key=lambda key: spread(key) & (table - 1))}


def java_properties(entries: Mapping[str, V]) -> dict[str, V]:
    """Return the entries in the order of java.util.Properties into which they were put in order."""
    bins: list[list[str]] = [[] for _ in range(16)]
    for count, key in enumerate(entries, start=1):
        bins[spread(key) & (len(bins) - 1)].append(key)
        if count >= len(bins) * 3 // 4:
            bins = _transferred(bins)
    return {key: entries[key] for keys in bins for key in keys}


def _transferred(bins: list[list[str]]) -> list[list[str]]:
    """Return the bins of a table of twice the size (ConcurrentHashMap.transfer)."""
    size = len(bins)
    doubled: list[list[str]] = [[] for _ in range(2 * size)]
    for index, keys in enumerate(bins):
        if keys:
            # The longest run at the end that stays together is moved as it is, the entries before
            # it are put in front one after the other.
            last_run = _last_run(keys, size)
            doubled[index + (size if spread(keys[last_run]) & size else 0)] = keys[last_run:]
            for key in keys[:last_run]:
                doubled[index + (size if spread(key) & size else 0)].insert(0, key)
    return doubled


def _last_run(keys: list[str], bit: int) -> int:
    start = len(keys) - 1
    while start and (spread(keys[start - 1]) & bit) == (spread(keys[-1]) & bit):
        start -= 1
    return start


def _power_of_two(capacity: int) -> int:
    size = 4
    while size < capacity:
        size *= 2
    return size


def _signed(value: int) -> int:
    return value - (1 << 32) if value & 0x80000000 else value
