"""Files of text that a user names, read in one way."""

from __future__ import annotations

from pathlib import Path

from kwire.errors import KwireError


def read_text(path: Path, wrong: type[KwireError]) -> str:
    """Return the text of a UTF-8 file. Raises `wrong`, with a sentence that names the file."""
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise wrong(f"cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise wrong(f"{path} is no text in UTF-8") from error
