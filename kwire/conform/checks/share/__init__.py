"""Checks of share groups: members, sessions, acknowledgements, offsets (KIP-932)."""
