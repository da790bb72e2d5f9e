"""The migration from ZooKeeper on a running controller: its driver with ZooKeeper and brokers."""
