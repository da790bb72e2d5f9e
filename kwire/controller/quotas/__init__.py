"""The quotas of clients that the controller itself enforces (KIP-599), without IO."""
