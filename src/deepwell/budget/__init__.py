"""Keeping a run inside what it may use."""
