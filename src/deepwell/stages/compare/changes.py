"""What two statements about the same thing say differently."""

from collections.abc import Callable, Iterator, Sequence

from deepwell.language.names import names
from deepwell.language.stems import stems
from deepwell.stages.compare.amounts import Amount, amounts
from deepwell.stages.compare.signals import negation, turned
from deepwell.stages.compare.wording import Word, over, words_of
from deepwell.vocabulary.comparison import Change, Spot

MOST_REPLACED = 4
"""Words that may stand in one place instead of others; where more do, the sentence was written anew."""


def changes(before: str, after: str) -> tuple[Change, ...]:
    """Every value that differs; where none does, the one place where words were replaced. Empty: only reworded."""
    mine, theirs = amounts(before), amounts(after)
    found = [
        *_amount_changes(mine, theirs),
        *(Change("direction", *spots) for spots in turned(before, after)),
        *_denials(negation(before), negation(after)),
        *_name_changes(_names_not_in(after, before, mine), _names_not_in(before, after, theirs)),
    ]
    return tuple(sorted(found or _replaced(before, after, (mine, theirs)), key=_place))


def _place(change: Change) -> tuple[bool, int]:
    spot = change.before or change.after
    return change.before is None, spot.start if spot else 0


def _amount_changes(before: Sequence[Amount], after: Sequence[Amount]) -> Iterator[Change]:
    mine, theirs = {one.key for one in before}, {one.key for one in after}
    left = [one for one in before if one.key not in theirs]
    right = [one for one in after if one.key not in mine]
    for sameness in (_same_value, _same_unit, _same_kind):
        for one, other in _paired(left, right, sameness):
            left.remove(one)
            right.remove(other)
            yield Change(one.kind, one.spot, other.spot)
    yield from (Change(one.kind, one.spot, None) for one in left if not one.is_loose)
    yield from (Change(one.kind, None, one.spot) for one in right if not one.is_loose)


def _paired(
    left: Sequence[Amount], right: Sequence[Amount], sameness: Callable[[Amount], tuple[str, str]]
) -> list[tuple[Amount, Amount]]:
    """In order, those that are alike: the first with the first, the second with the second."""
    waiting: dict[tuple[str, str], list[Amount]] = {}
    for other in right:
        waiting.setdefault(sameness(other), []).append(other)
    return [(one, waiting[sameness(one)].pop(0)) for one in left if waiting.get(sameness(one))]


def _same_value(amount: Amount) -> tuple[str, str]:
    return amount.kind, amount.key[1]


def _same_unit(amount: Amount) -> tuple[str, str]:
    return amount.kind, amount.key[0]


def _same_kind(amount: Amount) -> tuple[str, str]:
    return amount.kind, ""


def _denials(before: Spot | None, after: Spot | None) -> list[Change]:
    return [] if bool(before) == bool(after) else [Change("negation", before, after)]


def _name_changes(gone: Sequence[Spot], new: Sequence[Spot]) -> list[Change]:
    """A name in place of another; one that was only left out or added is no contradiction."""
    return [Change("name", one, other) for one, other in zip(gone, new, strict=False)]


def _names_not_in(other: str, text: str, dates: Sequence[Amount]) -> list[Spot]:
    """The names of a text of which the other has no word; months and weekdays are dates and no names."""
    there = frozenset(stems(other))
    found = (Spot(name.start, name.end, name.text) for name in names(text))
    surely = (name for name in found if _is_surely_a_name(name, text) and not _overlaps(name, dates))
    return [name for name in surely if there.isdisjoint(stems(name.text))]


def _overlaps(spot: Spot, values: Sequence[Amount]) -> bool:
    return any(spot.start < value.spot.end and value.spot.start < spot.end for value in values)


def _is_surely_a_name(name: Spot, text: str) -> bool:
    """Any word has a capital at the beginning of a sentence."""
    return any(c.isalnum() for c in text[: name.start]) or len(name.text.split()) > 1


def _replaced(before: str, after: str, values: tuple[Sequence[Amount], Sequence[Amount]]) -> Iterator[Change]:
    """The only place where the two differ, when it is a short one with telling words on both sides."""
    one, other = words_of(before), words_of(after)
    first = _shared([w.stem for w in one], [w.stem for w in other])
    last = _shared([w.stem for w in one[first:]][::-1], [w.stem for w in other[first:]][::-1])
    out, into = one[first : len(one) - last], other[first : len(other) - last]
    if _tells(out, into, values[0]) and _tells(into, out, values[1]):
        is_name = first > 0 and all(word.is_capitalised for word in (*out, *into))
        yield Change("name" if is_name else "wording", over(out, before), over(into, after))


def _tells(words: Sequence[Word], others: Sequence[Word], values: Sequence[Amount]) -> bool:
    """Whether so few words say something that the others do not; numbers and dates were compared by value."""
    known = {word.stem for word in others}
    new = (word for word in words if word.is_telling and word.stem not in known)
    return len(words) <= MOST_REPLACED and any(not _overlaps(word.spot, values) for word in new)


def _shared(one: Sequence[str], other: Sequence[str]) -> int:
    """How many words the two begin with alike."""
    return next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
