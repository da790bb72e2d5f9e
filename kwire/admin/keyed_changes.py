"""The arguments of operations that change something of each key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyedChanges(Generic[K, V]):
    """The values that keys shall have.

    validate_only: True to have the node check them and change nothing.
    """

    by_key: Mapping[K, V]
    validate_only: bool
