"""A KRaft controller for tests and laboratories: brokers boot from it, controllers vote with it."""
