"""A proxy as it runs: its configuration, its clusters, its metrics."""
