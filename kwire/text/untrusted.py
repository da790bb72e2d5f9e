"""Text that somebody else wrote: read from files, searched for numbers, made safe to print."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from reprlib import Repr

from kwire.errors import KwireError

_DIGITS = 19
"""Digits of the longest number that is read: 2^63 - 1 has so many."""

LONGEST = 256_000_000
"""Characters of the longest file that is read as text."""

CUT = 80
"""Characters of an untrusted value that an error shows."""

COMPARED = 50
"""Names that are compared with one that is not there, and characters of the longest such name."""


def read_text(path: Path, wrong: type[KwireError]) -> str:
    """Return the text of a UTF-8 file. Raises `wrong`, with a sentence that names the file.

    A file may have no end, as /dev/zero: no more than LONGEST characters are read.
    """
    try:
        with path.open(encoding="utf-8") as file:
            text = file.read(LONGEST + 1)
    except OSError as error:
        raise wrong(f"cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise wrong(f"{path} is no text in UTF-8") from error
    if len(text) > LONGEST:
        raise wrong(f"{path}: more than {LONGEST} characters are too many")
    return text


def whole_number(text: str, *, bits: int) -> int | None:
    """Return a number from 0 on that fits into so many bits; None for any other text."""
    text = text.strip()
    # `int` alone takes digits of every script, and raises another error beyond 4300 of them.
    if not (text.isascii() and text.isdecimal() and len(text) <= _DIGITS):
        return None
    number = int(text)
    return number if number < 1 << bits else None


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return `; did you mean 'Fetch'?` for a word that is nearly a known one, or its beginning.

    "" for any other word.
    """
    from difflib import get_close_matches

    if len(word) > COMPARED:
        return ""
    # Names of a hundred characters take a millisecond each to compare, and there may be thousands.
    known, letters = list(known), set(word)
    begun = [name for name in known if len(word) > 2 and name.startswith(word)]
    likely = sorted(
        (len(letters ^ set(name)), name) for name in known if abs(len(name) - len(word)) < 4
    )
    close = begun or get_close_matches(word, [name for _, name in likely[:COMPARED]], n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


class _Quote(Repr):
    """A repr that is cut at every level, as `cut_repr` needs it."""

    def repr_int(self, x: int, level: int) -> str:
        # Python refuses to print a number of more than 4300 digits.
        bits = x.bit_length()
        return repr(x) if bits < 1000 else f"a number of {bits} bits"


def cut_repr(value: object, longest: int = CUT) -> str:
    """Return the repr of a value for an error, of a long value only the beginning."""
    if isinstance(value, str | bytes):
        text = repr(value[:longest])
        return text if len(value) <= longest else f"{text}…"
    quote = _Quote()
    quote.maxlevel, quote.maxother = 3, longest
    text = quote.repr(value)
    return text if len(text) <= longest else f"{text[:longest]}…"


_PRINTABLE = bytes(range(0x20, 0x7F))


def harmless(text: str) -> str:
    """Return text with a terminal's control characters and non-UTF-8 bytes written as escapes."""
    # Of a long line in ASCII the second test takes twice as long.
    if text.isascii() and not text.encode().translate(None, _PRINTABLE):
        return text
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
