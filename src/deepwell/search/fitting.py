"""What an engine is built with."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date

from deepwell.search.http import Http
from deepwell.vocabulary.scope import Scope


@dataclass(frozen=True, slots=True)
class Fitting:
    """The means of one engine."""

    http: Http
    today: Callable[[], date]
    """For engines that can only be told how old a page may be."""
    scope: Scope = field(default_factory=Scope)
    key: str = field(default="", repr=False)
    """Empty: none."""
    address: str = ""
    """Where it answers, without the last slash. Empty: where it is known to answer."""
    options: Mapping[str, str] = field(default_factory=dict)
    """Further settings, for an engine that has some."""

    def asked_for(self, limit: int, most: int) -> int:
        """How many results to ask for: more than are wanted when some may be filtered out."""
        return max(1, min(most, 2 * limit if self.scope.narrows else limit))
