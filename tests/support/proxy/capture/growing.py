"""A file of packets that still grows: between its parts a moment passes."""

from collections.abc import Iterable


class Growing:
    """Its `read` returns None where a part ends; the last one is the end of the file."""

    def __init__(self, parts: Iterable[bytes]) -> None:
        self._parts = list(parts)
        self._data = b""

    def read(self, size: int) -> bytes | None:
        while len(self._data) < size and self._parts:
            more = self._parts.pop(0)
            if not more:
                return None
            self._data += more
        data, self._data = self._data[:size], self._data[size:]
        return data
