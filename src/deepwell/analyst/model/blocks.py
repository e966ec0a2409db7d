"""How material is laid before a model: in marked blocks that it cannot break out of, cut to the room there is."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import quoteattr

from deepwell.language.tokens import estimated_tokens, fitting
from deepwell.vocabulary.evidence import ReadPassage, Standing
from deepwell.vocabulary.plan import Plan, Query
from deepwell.vocabulary.question import Brief, Conversation
from deepwell.vocabulary.report import NumberedEvidence, Outline, WrittenSection
from deepwell.vocabulary.source import Hit, described

BLOCK_TOKENS = 35
"""What the marks around one block take, with the title of its source."""
LEAST_ROOM = 160
"""With less, nothing could be said at all; a prompt that is then too long is better than an empty one."""
MOST_TITLE = 80
"""Characters of a source's title that a model is shown."""
_NAMES = "passage|claim|question|topic|section|subquestion|gap|today|sources|turn|earlier|hit"
# A model may take for a mark what only looks like one: other angles and strokes, blanks or nothing visible between.
_ANGLE, _STROKE = "[<＜﹤˂ᐸ〈⟨❮‹]", "[/／⁄∕⧸╱]"
_GAP = r"[\s\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e007f]*+"
_CLOSING = re.compile(rf"{_ANGLE}{_GAP}{_STROKE}")
_OURS = re.compile(rf"{_ANGLE}{_GAP}(?={_NAMES})", re.IGNORECASE)


def harmless(text: str) -> str:
    """Text from outside, unable to end the block it stands in or to open one of ours: no mark in it closes anything."""
    return _OURS.sub("‹ ", _CLOSING.sub("‹ /", text))


@dataclass(frozen=True, slots=True)
class Shown:
    """Passages as a model sees them, and which of them it does see, counted from 1."""

    text: str
    numbers: tuple[int, ...] = ()


def passage_blocks(passages: Sequence[ReadPassage], seen: frozenset[str], room: int) -> Shown:
    """The numbered passages, best first, each cut to its share of the room; those already summed up are left out."""
    fresh = [(n, item) for n, item in enumerate(passages, start=1) if item.passage.handle not in seen]
    if not fresh:
        none = "No passage was found." if not passages else "No passage was found that is not covered by the notes."
        return Shown(none)
    heads = [f'<passage n="{n}" source={quoteattr(_title(item))}>' for n, item in fresh]
    texts = shared_out([item.passage.text for _, item in fresh], room)
    kept = [(n, head, text) for (n, _), head, text in zip(fresh, heads, texts, strict=True) if text]
    blocks = "\n\n".join(f"{head}\n{harmless(text)}\n</passage>" for _, head, text in kept)
    return Shown(blocks, tuple(n for n, _, _ in kept))


def claim_blocks(evidence: Sequence[NumberedEvidence], room: int) -> str:
    """The numbered claims with the citation of each, and the passage's own words where they say it differently."""
    texts = shared_out([_claim(item) for item in evidence], room)
    return "\n".join(
        f'<claim n="{n}" cite="{item.marker}"{_told_by(item)}>{harmless(text)}</claim>'
        for n, (item, text) in enumerate(zip(evidence, texts, strict=True), start=1)
        if text
    )


def shared_out(texts: Sequence[str], room: int) -> list[str]:
    """As much of each text as fits: short ones whole, long ones cut to an equal share, the last ones dropped."""
    room = max(room, LEAST_ROOM)
    sizes = [estimated_tokens(text) + BLOCK_TOKENS for text in texts]
    kept = len(texts)
    # A share too small to say anything helps nobody: fewer texts, and longer ones.
    while kept > 1 and sum(sizes[:kept]) > room and room / kept < 3 * BLOCK_TOKENS:
        kept -= 1
    share = _share(sizes[:kept], room)
    return [fitting(text, max(1, share - BLOCK_TOKENS)) if i < kept else "" for i, text in enumerate(texts)]


def plan_blocks(plan: Plan, standings: Sequence[Standing] = ()) -> str:
    """The sub-questions, with how far each has come where that is known."""
    known = {standing.id: standing for standing in standings}
    lines = []
    for part in plan.subquestions:
        lines.append(f'<subquestion id="{part.id}">{harmless(part.text)}</subquestion>')
        if standing := known.get(part.id):
            lines += [f"  settled by: {harmless(part.settled_by)}"] if part.settled_by else []
            lines.append(f"  {standing.evidence} claims found, {standing.attempts} tries")
            lines += [f'  <gap subquestion="{part.id}">{harmless(gap)}</gap>' for gap in standing.gaps]
    return "\n".join(lines)


def wishes(brief: Brief) -> str:
    """What the person asked of the report itself."""
    wanted = brief.preferences
    told = {
        "Language": wanted.language or "that of the question",
        "Length": wanted.length,
        "For": wanted.audience,
        "Form": wanted.format,
        "Tables": {True: "wanted", False: "not wanted"}.get(wanted.tables) if wanted.tables is not None else "",
        "Kind of question": brief.kind,
    }
    return "\n".join(f"{name}: {harmless(str(value))}" for name, value in told.items() if value)


def assumptions(brief: Brief) -> str:
    """How the question was read."""
    return f"It is read like this:\n{bullets(brief.assumptions)}" if brief.assumptions else ""


def earlier_turns(conversation: Conversation) -> str:
    """What was said before the question."""
    return "\n".join(f'<turn by="{turn.speaker}">{harmless(turn.text)}</turn>' for turn in conversation[:-1])


def outline_lines(outline: Outline) -> str:
    """The parts of the report, for someone who writes one of them."""
    return "\n".join(f"- {harmless(part.heading or 'Answer')}: {harmless(part.purpose)}" for part in outline.sections)


def earlier_sections(sections: Sequence[WrittenSection], room: int) -> str:
    """The text of the parts already written, the newest last."""
    if not sections:
        return ""
    texts = shared_out([section.text for section in sections], room)
    shown = "\n\n".join(f"{harmless(s.heading)}\n{harmless(t)}" for s, t in zip(sections, texts, strict=True) if t)
    return f"Already written, not to be repeated:\n<earlier>\n{shown}\n</earlier>\n"


def searches(queries: Iterable[Query], thin: Sequence[Query]) -> str:
    """The searches already run, and which of them brought little."""
    lines = [f"{query.text}{' (brought little)' if query in thin else ''}" for query in queries]
    return bullets(dict.fromkeys(lines)) or "none"


def addresses(hits: Sequence[Hit]) -> str:
    """What came up and was not read."""
    if not hits:
        return ""
    listed = (
        f"<hit address={quoteattr(harmless(hit.address))}>{harmless(_on_one_line(hit.title))}</hit>" for hit in hits
    )
    return "Also came up, not read:\n" + "\n".join(listed)


def notes(texts: Iterable[str]) -> str:
    """What researchers noted down from documents, each in a block of its own."""
    return "\n".join(f"<note>{harmless(_on_one_line(text))}</note>" for text in texts if text)


def bullets(lines: Iterable[str]) -> str:
    """One line each."""
    return "\n".join(f"- {harmless(_on_one_line(line))}" for line in lines)


def _title(item: ReadPassage) -> str:
    return harmless(described(item.source)[:MOST_TITLE])


def _claim(item: NumberedEvidence) -> str:
    """The claim, and the words it rests on unless they are the same."""
    claim = _on_one_line(item.evidence.claim)
    spans = (_on_one_line(span.text) for span in item.evidence.passages)
    quote = next((span for span in spans if span not in claim and claim not in span), "")
    return f"{claim} (in its own words: “{fitting(quote, 80)}”)" if quote else claim


def _told_by(item: NumberedEvidence) -> str:
    return f" from={quoteattr(harmless('; '.join(item.told_by[:2])[:MOST_TITLE]))}" if item.told_by else ""


def _on_one_line(text: str) -> str:
    return " ".join(text.split())


def _share(sizes: Sequence[int], room: int) -> int:
    """The largest share at which all texts together fit when those above it are cut down to it."""
    left, rest = room, len(sizes)
    for size in sorted(sizes):
        if size > left / rest:
            break
        left, rest = left - size, rest - 1
    return max(sizes, default=0) if rest == 0 else int(left / rest)
