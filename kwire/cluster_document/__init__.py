"""Metadata as a document: to keep, read back and compare (`kwire export`, `diff`).

document = document_of(read_checkpoint(path))
differences = compare(read_document(nightly), document).differences
"""
