"""Checks of dynamic voters (KIP-853)."""
