"""The permissions of a request's sender (KIP-11, KIP-801), without IO."""
