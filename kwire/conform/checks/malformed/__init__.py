"""Checks of requests that cannot be read: lengths, nulls, tags, bodies cut off, record batches."""
