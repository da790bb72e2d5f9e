"""Test vectors for codecs: bytes, Kafka's JSON, its verdict on mutants."""

from kwire.vectors.export import FolderNotEmpty, NotJudged, export_vectors

__all__ = ["FolderNotEmpty", "NotJudged", "export_vectors"]
