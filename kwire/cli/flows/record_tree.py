"""Record batches as branches of a message's tree: control and metadata records are decoded."""

from __future__ import annotations

from collections.abc import Iterator

from kwire.batches import Batch, Compression, Record, RecordBatch, read_batches
from kwire.batches.control_records import ControlRecordType, read_control_record
from kwire.batches.metadata_records import OpaqueRecord, read_metadata_record
from kwire.errors import KwireError
from kwire.proxy.flows.text import value_text
from kwire.proxy.flows.tree import Tree, message_tree

SHOWN = 100
"""Records of one batch, and headers of one record, that become branches."""


def record_trees(data: bytes, *, secrets: bool = False) -> list[Tree]:
    """Return a branch for each batch, and one with the reason if the rest cannot be read.

    secrets: show those in metadata records.
    """
    trees: list[Tree] = []
    end = 0
    try:
        for batch in read_batches(data):
            trees.append(_batch(batch, secrets))
            end += batch.size
    except KwireError as error:
        return [*trees, Tree(name="unreadable", value=str(error))]
    if end < len(data):
        trees.append(Tree(name="cut", value=f"{len(data) - end} bytes of a batch that goes on"))
    return trees


def _batch(batch: Batch, secrets: bool) -> Tree:
    children: list[Tree] = []
    for number, record in enumerate(_records(batch)):
        if number == SHOWN:
            children.append(Tree(name="more", value=f"records after the first {SHOWN}"))
            break
        children.append(record if isinstance(record, Tree) else _record(batch, record, secrets))
    return Tree(name="batch", value=_about(batch), children=tuple(children))


def _records(batch: Batch) -> Iterator[Record | Tree]:
    try:
        yield from batch.records()
    except KwireError as error:
        yield Tree(name="unreadable", value=str(error))


def _about(batch: Batch) -> str:
    about = [f"offsets {batch.base_offset}-{batch.last_offset}", f"format {batch.magic}"]
    if isinstance(batch, RecordBatch):
        about.append(f"leader epoch {batch.partition_leader_epoch}")
        about += ["control"] * batch.is_control + ["transactional"] * batch.is_transactional
        if batch.producer_id >= 0:
            about.append(f"producer {batch.producer_id} epoch {batch.producer_epoch}")
    if batch.compression:
        known = batch.compression in set(Compression)
        about.append(
            Compression(batch.compression).name.lower()
            if known
            else f"compression {batch.compression}"
        )
    return ", ".join(about)


def _record(batch: Batch, record: Record, secrets: bool) -> Tree:
    """Return the content of a record of Kafka's own, of any other its key and value."""
    title = f"offset {record.offset}"
    try:
        own = _control(record) if _is_control(batch) else _metadata(record, secrets)
    except KwireError:
        own = None
    if own is not None:
        return Tree(name=title, value=f"{own.name} {own.value}".strip(), children=own.children)
    fields = [Tree(name="key", value=value_text(record.key))] if record.key is not None else []
    fields.append(Tree(name="value", value=value_text(record.value)))
    for header in record.headers[:SHOWN]:
        fields.append(Tree(name=f"header {value_text(header.key)}", value=value_text(header.value)))
    if len(record.headers) > SHOWN:
        fields.append(Tree(name="more", value=f"headers after the first {SHOWN}"))
    return Tree(name=title, children=tuple(fields))


def _is_control(batch: Batch) -> bool:
    return isinstance(batch, RecordBatch) and batch.is_control


def _control(record: Record) -> Tree | None:
    control = read_control_record(record)
    if control.message is None:
        return None
    name = ControlRecordType(control.type).name
    return message_tree(name, control.message, control.version)


def _metadata(record: Record, secrets: bool) -> Tree | None:
    """Return a metadata record, recognized by its frame and by encoding to the same bytes."""
    if record.key is not None or not record.value or record.headers:
        return None
    versioned = read_metadata_record(record.value)
    if isinstance(versioned.record, OpaqueRecord) or versioned.encode() != record.value:
        return None
    name = type(versioned.record).__name__
    return message_tree(name, versioned.record, versioned.version, secrets=secrets)
