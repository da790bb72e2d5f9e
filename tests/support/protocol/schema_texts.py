"""The texts of Kafka's schemas, and the words that sentences of ours share with them."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterable, Iterator

import real_kafka


def schema_texts(version: str) -> Iterator[str]:
    """Yield the text of every schema of a release, read without the generator."""
    for jar in real_kafka.class_path(version):
        with zipfile.ZipFile(jar) as archive:
            for name in archive.namelist():
                if re.fullmatch(r"(common/)?(message|metadata)/\w+\.json", name):
                    yield archive.read(name).decode()


def words(text: str) -> list[str]:
    """Return the words of a text, in small letters."""
    return re.findall(r"[a-z0-9]+", text.lower())


def runs(text: str, length: int) -> set[str]:
    """Return every run of so many words of a text."""
    every = words(text)
    return {" ".join(every[at : at + length]) for at in range(len(every) - length + 1)}


def borrowed(sentences: Iterable[str], sources: Iterable[str], length: int) -> dict[str, set[str]]:
    """Return the sentences that have so many words in a row from a source, with these words."""
    taken = {run for source in sources for run in runs(source, length)}
    mine = {text: runs(re.sub(r" \(KIP-.*\)", "", text), length) for text in sentences}
    return {text: found & taken for text, found in mine.items() if found & taken}
