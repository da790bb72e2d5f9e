"""Texts and ids: as files, properties and peers hold them."""
