"""The results of an operation on several keys: each is done, refused, or unknown.

An answer that was lost says nothing about what the node did, so that three states are needed, not
two; and a key that an answer leaves out has failed, it is never taken for done.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeVar, overload

from kwire.admin.errors import OutcomeUnknown
from kwire.errors import KwireError

K = TypeVar("K")
R = TypeVar("R", covariant=True)
T = TypeVar("T")


class Outcomes(Mapping[K, R]):
    """A mapping of the keys that worked to their results, in the order in which they were asked.

    Reading a key that failed raises its error.
    """

    def __init__(self, by_key: Mapping[K, R | KwireError]) -> None:
        self._by_key = dict(by_key)

    def __getitem__(self, key: K) -> R:
        value = self._by_key[key]
        if isinstance(value, KwireError):
            raise value
        return value

    def __iter__(self) -> Iterator[K]:
        return (k for k, value in self._by_key.items() if not isinstance(value, KwireError))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, key: object) -> bool:
        return key in self._by_key and not isinstance(self._by_key[key], KwireError)

    @overload
    def get(self, key: K, /) -> R | None: ...
    @overload
    def get(self, key: K, /, default: R | T) -> R | T: ...
    def get(self, key: K, /, default: object = None) -> object:
        """Return the result of a key that worked, else the default; nothing is raised."""
        return self._by_key[key] if key in self else default

    @property
    def failed(self) -> Mapping[K, KwireError]:
        """The error of each key that is not known to be done, the unknown ones among them."""
        return {k: value for k, value in self._by_key.items() if isinstance(value, KwireError)}

    @property
    def unknown(self) -> Mapping[K, OutcomeUnknown]:
        """The keys whose request was sent and not answered: it may have been carried out."""
        return {k: value for k, value in self._by_key.items() if isinstance(value, OutcomeUnknown)}

    def entries(self) -> Mapping[K, R | KwireError]:
        """Return the result or the error of every key, in the order in which they were asked."""
        return self._by_key

    def all(self) -> dict[K, R]:
        """Return the results if every key worked. Raises an ExceptionGroup of the errors if not."""
        if failed := self.failed:
            sentence = f"{len(failed)} of {len(self._by_key)} failed"
            raise ExceptionGroup(sentence, list(failed.values()))
        return dict(self)

    def __repr__(self) -> str:
        return f"Outcomes({self._by_key!r})"
