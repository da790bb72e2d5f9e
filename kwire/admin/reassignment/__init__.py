"""Whole reassignments (KIP-455): plan, apply with a throttle, verify, cancel.

layout -> drain, replication_factor, spread -> plan -> json_file are pure functions. `client` asks a
cluster for its layout and sets throttles, `run` applies a plan. The two operations that Kafka has
are in kwire.admin.reassignments.
"""
