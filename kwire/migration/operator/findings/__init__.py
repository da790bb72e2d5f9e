"""The kinds of findings of `kwire migration` (KIP-866), by the command that has them."""
