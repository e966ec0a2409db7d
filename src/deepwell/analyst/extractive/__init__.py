"""Research without a model."""

from deepwell.analyst.extractive.analyst import ExtractiveAnalyst

__all__ = ["ExtractiveAnalyst"]
