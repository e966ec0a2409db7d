"""Deepwell answers a question with a report whose every claim can be traced to a passage it kept."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from deepwell.api import Request, Run, Watcher, ask, request, research
    from deepwell.configuration import Configuration
    from deepwell.errors import DeepwellError
    from deepwell.vocabulary.report import NotFound, Report

__version__ = "0.1.0"

_HOMES = {
    "Configuration": "deepwell.configuration",
    "DeepwellError": "deepwell.errors",
    "NotFound": "deepwell.vocabulary.report",
    "Report": "deepwell.vocabulary.report",
    "Request": "deepwell.api",
    "Run": "deepwell.api",
    "Watcher": "deepwell.api",
    "ask": "deepwell.api",
    "request": "deepwell.api",
    "research": "deepwell.api",
}
__all__ = [
    "Configuration",
    "DeepwellError",
    "NotFound",
    "Report",
    "Request",
    "Run",
    "Watcher",
    "__version__",
    "ask",
    "request",
    "research",
]


def __getattr__(name: str) -> Any:
    """Names are loaded when they are first used: importing the package costs nothing."""
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
