"""A server's part of SASL, without the connection: who sends the requests (KIP-43, KIP-152)."""
