"""Log directories as Kafka lays them out: segments, snapshots, indexes, quorum state."""
