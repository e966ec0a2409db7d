"""Which statements of two reports speak of the same thing."""

import math
from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from deepwell.language.names import names
from deepwell.language.stems import folded_words, stem
from deepwell.language.words import STOPWORDS
from deepwell.stages.compare.amounts import NUMBER_WORDS
from deepwell.stages.compare.signals import DIRECTIONS
from deepwell.stages.compare.wording import plain
from deepwell.vocabulary.comparison import Statement

ALIKE = 0.5
"""Share of weighted words that two statements must have in common, from 0 to 1."""
ALIKE_ON_ONE_PASSAGE = 0.2
"""The same when both rest on the same passage: one passage can bear several claims, so something must be shared."""
FIGURE_WEIGHT = 0.25
"""Figures are what changes; they only decide between statements that are alike otherwise."""
_PRECISION = 1000
"""Weights are whole numbers: their sums are the same in every order."""

Pair = tuple[int, int]
"""Places of two matched statements, in the earlier report and in the later."""


@dataclass(frozen=True, slots=True)
class _Read:
    """The words of one statement that are compared."""

    words: frozenset[str]
    names: frozenset[str]
    """Those that are surely part of a name."""
    figures: frozenset[str]


def matched(before: Sequence[Statement], after: Sequence[Statement]) -> list[Pair]:
    """One to one: those of the same text first, then the best of the others."""
    pairs = _same_text(before, after)
    left = _others(len(before), [i for i, _ in pairs])
    right = _others(len(after), [j for _, j in pairs])
    close = _best_first([before[i] for i in left], [after[j] for j in right])
    return sorted([*pairs, *((left[i], right[j]) for i, j in close)])


def _others(count: int, taken: Sequence[int]) -> list[int]:
    return sorted(set(range(count)).difference(taken))


def _same_text(before: Sequence[Statement], after: Sequence[Statement]) -> list[Pair]:
    waiting: dict[str, deque[int]] = defaultdict(deque)
    for j, statement in enumerate(after):
        waiting[plain(statement.text)].append(j)
    places = ((i, waiting.get(plain(statement.text))) for i, statement in enumerate(before))
    return [(i, there.popleft()) for i, there in places if there]


def _best_first(before: Sequence[Statement], after: Sequence[Statement]) -> Iterator[Pair]:
    ranked = sorted(_candidates(before, after), key=lambda one: (-one[0], abs(one[1] - one[2]), one[1] + one[2]))
    left, right = set(range(len(before))), set(range(len(after)))
    for _, i, j in ranked:
        if i in left and j in right:
            left.remove(i)
            right.remove(j)
            yield i, j


def _candidates(before: Sequence[Statement], after: Sequence[Statement]) -> Iterator[tuple[float, int, int]]:
    """Score and places of every pair that may be matched; those on one passage come before all others."""
    mine, theirs = [_read(s.text) for s in before], [_read(s.text) for s in after]
    weights = _weights(mine, theirs)
    sums = [_sum(one, weights) for one in theirs]
    places = _places(theirs)
    bases = _bases(after)
    for i, one in enumerate(mine):
        total, same_passage = _sum(one, weights), _on_the_same(before[i], bases)
        for j, shared in _shared(one, places, weights).items():
            alike = 2 * shared / (total + sums[j]) if shared else 0.0
            enough = ALIKE_ON_ONE_PASSAGE if j in same_passage else ALIKE
            if alike >= enough and not _is_about_another(one, theirs[j]):
                yield alike + (j in same_passage), i, j


def _read(text: str) -> _Read:
    """Opposites count as one word here: `rose` and `fell` speak of the same thing."""
    found = [word for word in folded_words(text) if word not in STOPWORDS]
    words = frozenset(f"±{DIRECTIONS[word][0]}" if word in DIRECTIONS else stem(word) for word in found)
    # The first word has a capital in any case.
    named = (name for name in names(text) if any(c.isalnum() for c in text[: name.start]))
    in_names = frozenset(stem(word) for name in named for word in folded_words(name.text))
    figures = frozenset(word for word in words if _is_figure(word))
    return _Read(words, (words & in_names) - figures, figures)


def _is_figure(word: str) -> bool:
    return word[0].isdigit() or word in NUMBER_WORDS


def _is_about_another(one: _Read, other: _Read) -> bool:
    """Other names with other figures are another fact, however alike the sentences are built."""
    has_other_names = one.names - other.words and other.names - one.words
    return bool(has_other_names and one.figures - other.figures and other.figures - one.figures)


def _weights(mine: Sequence[_Read], theirs: Sequence[_Read]) -> Mapping[str, int]:
    """Rare words count more; a word is as common as it is in the report that has it more often."""
    here, there = (Counter(word for one in side for word in one.words) for side in (mine, theirs))
    most = max(len(mine), len(theirs))
    return {
        word: round(_PRECISION * _importance(word) * math.log(1 + most / max(here[word], there[word])))
        for word in {*here, *there}
    }


def _importance(word: str) -> float:
    return FIGURE_WEIGHT if _is_figure(word) else 1.0


def _sum(one: _Read, weights: Mapping[str, int]) -> int:
    return sum(weights[word] for word in one.words)


def _places(reads: Sequence[_Read]) -> Mapping[str, Sequence[int]]:
    found: dict[str, list[int]] = defaultdict(list)
    for j, one in enumerate(reads):
        for word in one.words:
            found[word].append(j)
    return found


def _shared(one: _Read, places: Mapping[str, Sequence[int]], weights: Mapping[str, int]) -> Mapping[int, int]:
    """The weight of the words in common, for every statement that has any."""
    found: dict[int, int] = defaultdict(int)
    for word in one.words:
        weight = weights[word]
        for j in places.get(word, ()):
            found[j] += weight
    return found


def _bases(statements: Sequence[Statement]) -> Mapping[str, Sequence[tuple[int, int, int]]]:
    """For each source, which statements rest on which spans of it."""
    found: dict[str, list[tuple[int, int, int]]] = defaultdict(list)
    for j, statement in enumerate(statements):
        for source, start, end in statement.spans:
            found[source].append((j, start, end))
    return found


def _on_the_same(statement: Statement, bases: Mapping[str, Sequence[tuple[int, int, int]]]) -> frozenset[int]:
    """The statements that rest on a span which this one's spans overlap."""
    return frozenset(
        j
        for source, start, end in statement.spans
        for j, their_start, their_end in bases.get(source, ())
        if start < their_end and their_start < end
    )
