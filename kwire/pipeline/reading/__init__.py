"""What Spark reads: captures, packets, metadata logs and snapshots, wherever fsspec finds them."""
