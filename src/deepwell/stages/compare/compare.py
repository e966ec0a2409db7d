"""Two reports compared by claim: what is kept, what changed, what is gone and what is new."""

from collections.abc import Sequence

from deepwell.stages.compare.changes import changes
from deepwell.stages.compare.matching import matched
from deepwell.stages.compare.wording import plain
from deepwell.vocabulary.comparison import Changed, Comparison, Gone, Kept, New, Statement


def compare(before: Sequence[Statement], after: Sequence[Statement]) -> Comparison:
    """Every statement of both sides in exactly one place; pairs and what is gone in the order of the earlier report."""
    pairs = matched(before, after)
    judged = [_judged(before[i], after[j]) for i, j in pairs]
    mine, theirs = {i for i, _ in pairs}, {j for _, j in pairs}
    return Comparison(
        kept=tuple(one for one in judged if isinstance(one, Kept)),
        changed=tuple(one for one in judged if isinstance(one, Changed)),
        gone=tuple(Gone(statement) for i, statement in enumerate(before) if i not in mine),
        new=tuple(New(statement) for j, statement in enumerate(after) if j not in theirs),
    )


def _judged(before: Statement, after: Statement) -> Kept | Changed:
    if plain(before.text) == plain(after.text):
        return Kept(before, after, reworded=False)
    found = changes(before.text, after.text)
    return Changed(before, after, found) if found else Kept(before, after, reworded=True)
