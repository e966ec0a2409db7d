"""Checking the written text against what was kept."""
