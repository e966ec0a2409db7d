"""A small web on loopback, with two searches over its pages, that can also fail in every way the real one does.

with WebServer(small_web(), faults=[Fault("500", kinds=frozenset({"search"}), first=2)]) as web:
    ...                                   # point a run at web.environment()
    assert len(set(web.asked("page"))) == len(web.asked("page"))
"""

from deepwell.testing.web.faults import FAULTS, METADATA, REBOUND, Fault
from deepwell.testing.web.pages import Page, html_page
from deepwell.testing.web.rebinding import RebindingResolver
from deepwell.testing.web.searching import KEY, Engine
from deepwell.testing.web.server import WebServer
from deepwell.testing.web.small_web import FACTS, QUESTION, Fact, small_web
from deepwell.testing.web.visits import Kind, Visit, longest_chain, seconds_of

__all__ = [
    "FACTS",
    "FAULTS",
    "KEY",
    "METADATA",
    "QUESTION",
    "REBOUND",
    "Engine",
    "Fact",
    "Fault",
    "Kind",
    "Page",
    "RebindingResolver",
    "Visit",
    "WebServer",
    "html_page",
    "longest_chain",
    "seconds_of",
    "small_web",
]
