"""Deepwell answers a question with a report whose every claim can be traced to a passage it kept."""

__version__ = "0.1.0"
