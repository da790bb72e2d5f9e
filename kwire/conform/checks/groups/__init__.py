"""Checks of groups of consumers: members, generations, offsets (KIP-62, KIP-345, KIP-848)."""
