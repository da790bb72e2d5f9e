"""One change of the metadata as a write to ZooKeeper (Java: kafka.zk.migration.*, KIP-866).

The znodes' bytes are those of 3.9, and so is what follows outside of the fence. Kafka makes one
multi of each znode; here it is one of each change, so that a topic is there whole or not at all.
"""
