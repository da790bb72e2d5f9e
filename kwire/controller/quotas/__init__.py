"""The quotas of clients (KIP-599) and limits of connections that a controller enforces, without IO."""
