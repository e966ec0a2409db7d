"""Measurements, not tests: run them with `make bench`."""
