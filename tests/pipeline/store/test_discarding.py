"""Ingests that end without a decision: what they wrote is removed, and nobody can decide them."""

from pathlib import Path

import pytest
from deltalake import DeltaTable

from kwire.pipeline.store.delta import CannotCommit
from kwire.pipeline.store.ledger import FOLDER, IN_WORK, Ledger
from kwire.pipeline.store.location import Location
from tests.support.pipeline.ledgered import small_ingest


def test_a_discarded_ingest_leaves_no_file(tmp_path: Path) -> None:
    ledger = Ledger(Location.of(str(tmp_path)))
    ingest = small_ingest(tmp_path, "one")
    ledger._write_list(f"{ingest.id}.json", ingest)
    staging = tmp_path / FOLDER / ingest.id
    staging.mkdir()
    for name in (IN_WORK, "halves-0.parquet"):
        (staging / name).write_bytes(b"")
    ledger.discard(ingest.id)
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not list((tmp_path / FOLDER).iterdir())


def test_an_ingest_that_was_given_up_is_not_decided_any_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its process is about to commit, at a moment when its files are about to be removed."""
    ledger, stopped = (Ledger(Location.of(str(tmp_path))) for _ in range(2))
    ingest = small_ingest(tmp_path, "one")
    stopped._write_list(f"{ingest.id}.json", ingest)
    discard = Ledger.discard
    refused: list[str] = []

    def discard_beside_its_process(self: Ledger, id: str) -> None:
        with pytest.raises(CannotCommit, match="took too long: run it again") as caught:
            stopped._decide(ingest)
        refused.append(str(caught.value))
        discard(self, id)

    monkeypatch.setattr(Ledger, "discard", discard_beside_its_process)
    ledger.give_up(ingest.id)
    assert len(refused) == 1
    assert DeltaTable(str(tmp_path / "sources")).to_pyarrow_table().num_rows == 0
    assert not list((tmp_path / "frames").rglob("*.parquet"))
