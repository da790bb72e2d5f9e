"""The configuration of a controller, read from Kafka's server.properties."""
