"""`kwire migration`: a migration from ZooKeeper (KIP-866), seen from both sides."""
