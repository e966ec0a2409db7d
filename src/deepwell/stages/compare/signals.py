"""Small words that turn a sentence round: directions and negations."""

import re
from collections.abc import Mapping

from deepwell.vocabulary.comparison import Spot

_RISING = """
    rise rises rose risen rising increase increases increased increasing grow grows grew grown growing climb climbs
    climbed climbing gain gains gained gaining expand expands expanded doubled tripled improve improves improved
    strengthened accelerated soared jumped
"""
_FALLING = """
    fall falls fell fallen falling decrease decreases decreased decreasing decline declines declined declining drop
    drops dropped dropping shrink shrinks shrank shrunk shrinking reduce reduces reduced halved worsen worsens worsened
    weakened slowed plunged slumped
"""
_GOOD = """
    won wins win accepted accepts approved approves confirmed confirms supports supported allowed allows legal opened
    succeeded true safe effective
"""
_BAD = """
    lost loses lose rejected rejects refused denied denies opposes opposed banned forbids illegal closed failed false
    unsafe ineffective
"""
_AXES = {
    "course": (_RISING, _FALLING),
    "amount": ("more higher above larger bigger greater longer most", "less fewer lower below smaller shorter least"),
    "order": ("before earlier older", "after later younger newer"),
    "outcome": (_GOOD, _BAD),
    "side": ("with including", "without excluding"),
}
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_NEGATION = re.compile(
    r"\b(?:not(?!\s+only\b)|no(?=\s)|never|none|neither|nor|cannot|nobody|nothing|nowhere|"
    r"(?:is|are|was|were|do|does|did|has|have|had|ca|could|wo|would|should)n['’]t)\b",
    re.IGNORECASE,
)

DIRECTIONS: Mapping[str, tuple[str, int]] = {
    word: (axis, side) for axis, sides in _AXES.items() for side, said in enumerate(sides) for word in said.split()
}
"""Words with an opposite: on which axis they lie, and at which end."""


def turned(before: str, after: str) -> list[tuple[Spot, Spot]]:
    """Where one sentence points up and the other down; a sentence that points both ways tells nothing."""
    mine, theirs = _ends(before), _ends(after)
    return [
        (mine[axis, side], theirs[axis, 1 - side])
        for axis, side in mine
        if (axis, 1 - side) in theirs and (axis, 1 - side) not in mine and (axis, side) not in theirs
    ]


def negation(text: str) -> Spot | None:
    """The word that denies, when the sentence denies something."""
    match = _NEGATION.search(text)
    return Spot(match.start(), match.end(), match.group()) if match else None


def _ends(text: str) -> dict[tuple[str, int], Spot]:
    """The first word of a sentence at each end of each axis."""
    found: dict[tuple[str, int], Spot] = {}
    for match in _WORD.finditer(text):
        end = DIRECTIONS.get(match.group().lower())
        if end:
            found.setdefault(end, Spot(match.start(), match.end(), match.group()))
    return found
