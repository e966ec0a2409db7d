"""How much of what a round brought back is new?"""

from collections.abc import Sequence

from deepwell.language.words import content_words


def novelty(new_notes: Sequence[str], accumulated: Sequence[str]) -> float | None:
    """The share of the round's distinct content words that the earlier notes do not have.

    None when the round brought no words at all: that is a failure to judge elsewhere, not a repetition.
    """
    fresh = content_words("\n".join(new_notes))
    if not fresh:
        return None
    return len(fresh - content_words("\n".join(accumulated))) / len(fresh)
