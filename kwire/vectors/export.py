"""Writes test vectors into a folder, with a manifest that says what is in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec

import kwire
from kwire.codec.declaration import Message
from kwire.errors import LocalError
from kwire.messages.registry import all_messages
from kwire.vectors.rows import BatchRow, MutantRow, VectorRow, mutant_rows, vector_rows

VECTORS, MUTANTS, BATCHES = "vectors.jsonl", "mutants.jsonl", "batches.jsonl"
ROWS = {VECTORS: VectorRow, MUTANTS: MutantRow, BATCHES: BatchRow}
"""The files, and the shape of their lines."""

VERDICTS = "verdicts.tsv"
"""For each version of a message the release that judged its rows, and their checksum.

`python -m vectors.verdicts`, of fixtures, asks Kafka's classes about every row and writes this file
and batches.jsonl only if they agree with all. So rows with this checksum say what Kafka says.
"""


class NotJudged(LocalError):
    """These bytes are not those that Kafka's classes judged."""


class FolderNotEmpty(LocalError):
    """The folder for an export has something in it."""


def export_vectors(folder: Path, on_message: Callable[[], object] = lambda: None) -> dict[str, Any]:
    """Write all files into a folder that is new or empty; return the manifest.

    They appear there when all are complete. on_message: called after each message. Raises
    FolderNotEmpty, and NotJudged for rows that Kafka never judged.
    """
    folder = folder.absolute()
    if folder.exists() and any(folder.iterdir()):
        raise FolderNotEmpty(f"{folder} is not empty: export into a new folder")
    folder.parent.mkdir(parents=True, exist_ok=True)
    # A folder that is there may be a mount point: nothing can be moved into it from beside it.
    beside = folder if folder.exists() else folder.parent
    with TemporaryDirectory(dir=beside, prefix=f".{folder.name}~") as work:
        counts = _write_rows(Path(work), on_message)
        manifest = _manifest(counts)
        text = msgspec.json.format(msgspec.json.encode(manifest), indent=2)
        Path(work, "manifest.json").write_bytes(text + b"\n")
        folder.mkdir(exist_ok=True)
        for file in Path(work).iterdir():
            file.rename(folder / file.name)
    return manifest


def _write_rows(work: Path, on_message: Callable[[], object]) -> dict[str, int]:
    counts = dict.fromkeys(ROWS, 0)
    with ExitStack() as stack:
        opened = {name: stack.enter_context((work / name).open("wb")) for name in ROWS}

        def write(name: str, lines: Iterable[bytes]) -> None:
            for line in lines:
                opened[name].write(line + b"\n")
                counts[name] += 1

        for cls in all_messages():
            for vectors, mutants in judged_lines(cls):
                write(VECTORS, vectors)
                write(MUTANTS, mutants)
            on_message()
        write(BATCHES, _data(BATCHES).splitlines())
    return counts


def judged_lines(cls: type[Message]) -> Iterator[tuple[list[bytes], list[bytes]]]:
    """Yield the rows of each version, its vectors and its mutants. Raises NotJudged."""
    for version in cls.versions:
        release, expected = _verdicts().get((cls.__name__, str(version)), ("", ""))
        vectors = [*map(msgspec.json.encode, vector_rows(cls, version, release))]
        mutants = [*map(msgspec.json.encode, mutant_rows(cls, version, release))]
        if checksum([*vectors, *mutants]) != expected:
            raise NotJudged(f"Kafka has not judged {cls.__name__} v{version} as kwire writes it")
        yield vectors, mutants


def checksum(lines: Iterable[bytes]) -> str:
    """Return the checksum of rows: 16 digits of SHA-256."""
    return sha256(b"\n".join(lines)).hexdigest()[:16]


def _manifest(counts: dict[str, int]) -> dict[str, Any]:
    return {
        "format": 1,
        "kwire": kwire.__version__,
        "releases": sorted({release for release, _ in _verdicts().values()}),
        "messages": len({name for name, _ in _verdicts()}),
        "versions": len(_verdicts()),
        "files": {
            name: {"rows": counts[name], "schema": msgspec.json.schema(shape)}
            for name, shape in ROWS.items()
        },
    }


@cache
def _verdicts() -> dict[tuple[str, str], tuple[str, str]]:
    rows = (line.split("\t") for line in _data(VERDICTS).decode().splitlines())
    return {(name, version): (release, digest) for name, version, release, digest in rows}


def _data(name: str) -> bytes:
    return files("kwire.vectors").joinpath(name).read_bytes()
