"""Checks of SASL and TLS: who may come in, and in what order it is asked."""
