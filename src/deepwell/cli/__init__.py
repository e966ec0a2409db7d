"""The command line. Nothing heavy is imported here: `deepwell --help` must be instant."""

from deepwell.cli.app import main

__all__ = ["main"]
