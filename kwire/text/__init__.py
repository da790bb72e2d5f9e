"""Text as files, properties and peers hold it."""
