"""Bounds of what the engines read and write, beyond those of the bytes themselves."""

from __future__ import annotations

STRING_LIMIT = 0x7FFF
"""Longest string in bytes, whatever the width of its length (Kafka: MessageGenerator)."""

TAG_LIMIT = 1_000
"""Most tagged fields one struct may carry. Kafka allows 10,000 since 4.4; earlier releases have no
limit and can be flooded with them.

`kwire.codec.engine.limit_tags` changes it.
"""
