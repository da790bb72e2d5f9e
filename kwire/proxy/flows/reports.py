"""Reports that are made once, of texts that peers choose and may repeat."""

from __future__ import annotations


class ReportedTexts:
    """Remembers texts that were reported, up to a limit."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._texts: set[str] = set()

    def is_first(self, text: str) -> bool:
        """Return True for a text that is to be reported, and remember it."""
        if text in self._texts:
            return False
        # Peers may think of any number: forget all rather than grow.
        if len(self._texts) >= self._limit:
            self._texts.clear()
        self._texts.add(text)
        return True

    def forget(self, text: str) -> None:
        """Report a text again when it comes next."""
        self._texts.discard(text)

    def forget_all(self) -> None:
        """Report every text again when it comes next."""
        self._texts.clear()
