"""The quotas of clients (KIP-599) and limits of connections of a controller, without IO."""
