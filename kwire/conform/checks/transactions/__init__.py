"""Checks of transactions: coordinator, markers, isolation (KIP-98, KIP-447, KIP-664, KIP-890)."""
