"""Checks of idempotent producers: producer ids, epochs, sequences (KIP-98, KIP-360)."""
