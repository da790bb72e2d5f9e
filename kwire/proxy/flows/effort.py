"""The effort for one message: whoever writes expressions and rules must not stall the traffic.

A term of a few bytes looks at each value of a message, and a patch sets each, of which there may be
a million. So the sum is bounded for a message, over all expressions and rules that it meets.
"""

from __future__ import annotations

from dataclasses import dataclass

from kwire.errors import InvalidValue

LOOKS = 200_000
"""Values of a message that are looked at: a quarter of a second."""

CHARACTERS = 100
"""Characters compared, times those of a pattern that are tried at each, that weigh as one value."""

GROWTH = 4 * 1024 * 1024
"""Bytes by which patches and edits make a message longer."""


class TooMuch(InvalidValue):
    """More values than LOOKS would have to be looked at."""


@dataclass(slots=True)
class Effort:
    """Counts what is done for a message. looks: values looked at; growth: bytes added."""

    looks: int = 0
    growth: int = 0

    def look(self, values: int = 1) -> None:
        """Count values before they are looked at. Raises TooMuch."""
        # What is refused is not counted: a dear expression must not spend what others may need.
        if self.looks + values > LOOKS:
            raise TooMuch(f"more than {LOOKS} values of the message are too many to look at")
        self.looks += values

    def read(self, length: int, cost: int = 0) -> None:
        """Count a text before it is compared with a pattern. cost: see Glob. Raises TooMuch."""
        self.look(2 + length * (1 + cost) // CHARACTERS)

    def grow(self, size: int, path: str) -> None:
        """Count bytes before a change adds them. Raises InvalidValue."""
        if self.growth + size > GROWTH:
            raise InvalidValue(
                f"{path} would make the message {size} bytes longer, in all by more than {GROWTH}: "
                "set fewer elements, or a shorter value"
            )
        self.growth += size
