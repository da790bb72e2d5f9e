"""Log directories: segments, snapshots, indexes and quorum state, as Kafka lays them out."""
