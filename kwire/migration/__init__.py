"""A migration from ZooKeeper as operators see it: status, comparison, plan (KIP-866).

Nothing here writes, neither to ZooKeeper nor to the cluster.
"""
