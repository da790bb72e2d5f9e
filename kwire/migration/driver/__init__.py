"""The migration from ZooKeeper as the active controller drives it (KIP-866), without IO."""
