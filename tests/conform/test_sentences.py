"""Ids and sentences of checks stay: expectations, and reports that are compared, name them."""

import hashlib
from pathlib import Path

from kwire.conform.registry import all_checks

KNOWN = Path(__file__).with_name("sentences.tsv")
"""The id of each check and the first 12 digits of its sentence's SHA-256; new ones are added."""


def test_every_id_has_its_sentence() -> None:
    known = dict(line.split("\t") for line in KNOWN.read_text().splitlines())
    digests = {
        check.id: hashlib.sha256(check.sentence.encode()).hexdigest()[:12] for check in all_checks()
    }
    changed = {id: digest for id, digest in digests.items() if known.get(id) != digest}
    assert not changed, f"if this is meant, write it to {KNOWN.name}"
    assert not known.keys() - digests.keys(), "ids are not given up: a check of another can"
