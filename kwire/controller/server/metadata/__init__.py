"""The metadata of a running controller: replayed from the log, written by a leader, snapshotted."""
