"""The analyst that asks a chat model, of any provider, within a budget."""

from deepwell.analyst.model.analyst import ModelAnalyst

__all__ = ["ModelAnalyst"]
