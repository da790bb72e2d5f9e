"""The metadata quorum's state machine (Java: QuorumController), without raft and without IO."""
