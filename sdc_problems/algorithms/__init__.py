"""Searches that pymoo does not have."""
