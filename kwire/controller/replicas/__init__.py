"""Brokers and partitions: liveness, placement, ISR, leaders (Java: ReplicationControlManager)."""
