"""The data source: captures, packets, metadata logs and snapshots, wherever fsspec finds them."""
