"""Test vectors for authors of codecs: bytes, Kafka's JSON, and Kafka's verdict on mutants."""

from kwire.vectors.export import FolderNotEmpty, NotJudged, export_vectors

__all__ = ["FolderNotEmpty", "NotJudged", "export_vectors"]
