"""Frames and connections: negotiated versions, TLS and SASL."""
