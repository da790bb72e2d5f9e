"""Reports of a run: a document, which JSON carries, and what is made from documents."""
