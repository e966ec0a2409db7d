"""What is known of a model: found out once, and remembered in the user's folder."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import Any

from deepwell.models.factory import ModelSettings
from deepwell.models.shapes import Form, Prose, Shape
from deepwell.models.steering import Strategy

DAYS_KEPT = 7
ASSUMED_CONTEXT = 8192
"""Tokens that a model is taken to have room for when nobody tells."""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a model can do, as far as it was tried."""

    tools: bool
    """It answers with native tool calls."""
    schema: bool
    """It keeps to a JSON schema."""
    context_tokens: int | None = None
    """Prompt and reply together; None: not told."""
    probed_at: str = ""
    """ISO date of the try."""

    def strategy(self, shape: Shape) -> Strategy:
        """The firmest way to a reply of this shape: a form is best steered by its schema, moves are native calls."""
        if isinstance(shape, Prose):
            return "plain"
        if isinstance(shape, Form):
            return "schema" if self.schema else "tools" if self.tools else "plain"
        return "tools" if self.tools else "schema" if self.schema else "plain"

    @property
    def context(self) -> int:
        """Tokens to plan with."""
        return self.context_tokens or ASSUMED_CONTEXT


def cache_key(settings: ModelSettings) -> str:
    """The same model at another address is another model."""
    return f"{settings.name} {settings.base_url or ''}".strip()


class CapabilityCache:
    """One small file for all models. Losing it costs one probe each."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def get(self, key: str, today: date) -> Capabilities | None:
        """What was found out about the model, unless that was long ago: servers are set up anew now and then."""
        known = self.known(key)
        return known if known and (today - date.fromisoformat(known.probed_at)).days < DAYS_KEPT else None

    def known(self, key: str) -> Capabilities | None:
        """What was found out about the model, however long ago."""
        return _capabilities(self._read().get(key))

    def put(self, key: str, capabilities: Capabilities) -> None:
        """Remember it. A folder that cannot be written to means another probe next time, nothing worse."""
        known = self._read() | {key: asdict(capabilities)}
        part = self._path.with_suffix(".part")
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            part.write_text(json.dumps(known, indent=1), encoding="utf-8")
            part.replace(self._path)
        except OSError:
            return

    def _read(self) -> dict[str, Any]:
        try:
            known = json.loads(self._path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return known if isinstance(known, dict) else {}


def _capabilities(stored: Mapping[str, Any] | None) -> Capabilities | None:
    """A file written by hand or by another version is no reason to fail: what does not fit is probed again."""
    try:
        known = Capabilities(**stored) if stored else None
        date.fromisoformat(known.probed_at if known else "2000-01-01")
    except (TypeError, ValueError):
        return None
    return known if known and _well_typed(known) else None


def _well_typed(known: Capabilities) -> bool:
    abilities = isinstance(known.tools, bool) and isinstance(known.schema, bool)
    return abilities and (known.context_tokens is None or type(known.context_tokens) is int)
