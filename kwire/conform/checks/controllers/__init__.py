"""Checks of controllers that clients ask themselves (KIP-919)."""
