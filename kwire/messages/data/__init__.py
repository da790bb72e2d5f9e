"""Formats inside records, files and byte fields: control records and others."""
