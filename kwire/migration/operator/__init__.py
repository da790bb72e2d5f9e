"""A migration as operators see it: status, comparison, plan. Nothing here writes."""
