"""A script that plays a competent researcher: the same request always gets the same reply."""

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from deepwell.language.markers import without_markers
from deepwell.language.sentences import sentences
from deepwell.language.words import STOPWORDS, words
from deepwell.testing.model_server.replies import Call, PlainReply, Reply, Styled
from deepwell.testing.model_server.requests import ChatRequest, ShownClaim, ShownPassage

_FACETS = (
    "origin and background",
    "course and main events",
    "outcome and significance",
    "people and places",
    "figures and dates",
    "causes and reasons",
    "evidence and methods",
    "criticism and open disputes",
)
_QUOTED_PASSAGES = 3
_FOCUS_WORDS = 8
_GAPS_A_TURN = 2
_ROUND = re.compile(r"This is round (\d+)")
_FIRST_ASKED_ROUND = 2
_THOUGHT = 'The user wants this done with care. First {"idea": "look again"}, then the answer.'
_SIGNS: Mapping[str, Callable[[int, int], int]] = {
    "+": operator.add,
    "plus": operator.add,
    "-": operator.sub,
    "minus": operator.sub,
    "*": operator.mul,
    "×": operator.mul,
    "times": operator.mul,
}
_NUMBERS = "zero one two three four five six seven eight nine ten eleven twelve".split()
_NUMBER = rf"(\d+|{'|'.join(_NUMBERS)})"
_SUM = re.compile(rf"{_NUMBER}\s*({'|'.join(map(re.escape, _SIGNS))})\s*{_NUMBER}", re.IGNORECASE)
_QUOTATION = re.compile(r"\s*\(source: “.*”\)$", re.DOTALL)
"""The passage's own words behind a claim: for the writer to know, not to copy."""


@dataclass(frozen=True, slots=True)
class Colleague:
    """Plans along fixed facets, quotes first sentences with the right numbers, and writes with the right citations."""

    topics: int = 3
    """Sub-questions of a plan."""
    searches_first: int = 0
    """Searches that a unit asks for, one a turn, before it reports."""
    gaps: tuple[str, ...] = ()
    """What a unit reports as open, unless it was sent to close one of these."""
    follow_ups: int = 1
    """Turns in which the supervisor sends someone after the open gaps; then research is complete."""
    thinks: bool = False
    """Think aloud before everything."""
    reasoning_content: bool = False
    """Thoughts go into a field of their own instead of `<think>`."""
    fenced: bool = False
    """JSON that is content stands in a fence."""
    counts_turns: bool = True
    """False: the turn is read off the prompt, and a request that is made again after a crash gets the same reply."""

    def __call__(self, request: ChatRequest) -> Reply:
        """The reply."""
        plain = self._plain(request)
        thought = _THOUGHT if self.thinks or self.reasoning_content else ""
        return Styled(plain, thought, self.reasoning_content, self.fenced)

    def _plain(self, request: ChatRequest) -> PlainReply:
        playing: Mapping[str, Callable[[ChatRequest], PlainReply]] = {
            "take_in": self._take_in,
            "supervise": self._supervise,
            "investigate": self._investigate,
            "digest": self._digest,
            "outline": _outline,
            "write_section": _write_section,
        }
        if request.shape == "probe":
            return {"answer": _calculated(request)}
        return playing.get(request.purpose, _chat)(request)

    def _take_in(self, request: ChatRequest) -> PlainReply:
        preferences = {"length": "standard", "audience": "", "format": "", "tables": None, "language": ""}
        return {
            "clarification": "",
            "kind": "survey",
            "tier": "standard",
            "assumptions": [],
            "must_cover": [],
            "preferences": preferences,
            "subquestions": [_subquestion(request.question, i) for i in range(self.topics)],
        }

    def _supervise(self, request: ChatRequest) -> PlainReply:
        if not request.gaps or self._turn(request) >= self.follow_ups:
            return [("ResearchComplete", {"confidence": 0.8, "gaps": [gap.text for gap in request.gaps]})]
        return [_sent_after(gap.text, gap.subquestion) for gap in request.gaps[:_GAPS_A_TURN]]

    def _investigate(self, request: ChatRequest) -> PlainReply:
        turn = self._turn(request)
        if turn < self.searches_first:
            return [("search_web", {"query": _search(request, turn)})]
        return [("report_findings", self._digest(request))]

    def _turn(self, request: ChatRequest) -> int:
        if self.counts_turns:
            return request.turn
        case = request.messages[-1].text
        if found := _ROUND.search(case):
            return int(found[1]) - _FIRST_ASKED_ROUND
        return sum(f"- {_search(request, turn)}" in case for turn in range(self.searches_first))

    def _digest(self, request: ChatRequest) -> dict[str, Any]:
        quoted = [_quoted(passage) for passage in request.passages[:_QUOTED_PASSAGES]]
        if not quoted:
            return {"answer": "", "gaps": [f"Nothing was found on: {request.topic or request.question}"]}
        is_follow_up = any(gap in request.topic for gap in self.gaps)
        return {"answer": "\n\n".join(quoted), "gaps": [] if is_follow_up else list(self.gaps)}


def _subquestion(question: str, place: int) -> dict[str, Any]:
    facet, focus = _FACETS[place % len(_FACETS)], _focus(question)
    return {
        "question": f"What is known about {facet} of {focus}?",
        "searches": [focus, f"{focus} {facet}"],
        "settled_by": f"a source that speaks of {facet}",
    }


def _search(request: ChatRequest, turn: int) -> str:
    return f"{_focus(request.topic or request.question)} {_FACETS[turn % len(_FACETS)]}"


def _focus(text: str) -> str:
    """The words to search for."""
    return " ".join([word for word in dict.fromkeys(words(text)) if word not in STOPWORDS][:_FOCUS_WORDS])


def _sent_after(gap: str, subquestion: str) -> Call:
    return "ConductResearch", {
        "research_topic": gap,
        "subquestion": subquestion,
        "gap": gap,
        "searches": [_focus(gap)],
    }


def _quoted(passage: ShownPassage) -> str:
    """Its first sentence that is no heading, with the passage's number."""
    found = [passage.text[start:end] for start, end in sentences(passage.text)]
    sentence = next((text for text in found if not text.startswith("#")), passage.text)
    return f"{without_markers(' '.join(sentence.split()))} [{passage.n}]"


def _outline(request: ChatRequest) -> PlainReply:
    if not request.claims:
        return {"title": request.question, "answerable": False, "missing": [request.question], "sections": []}
    groups = _grouped(request.claims)
    headings = [part.text.rstrip("?") for part in request.subquestions]
    headings += [" ".join(group[0].text.split()[:6]).rstrip(".,;:") for group in groups[len(headings) :]]
    sections = [
        {"heading": heading, "purpose": f"Say what is known: {heading}", "claims": [claim.n for claim in group]}
        for heading, group in zip(headings, groups, strict=False)
    ]
    return {"title": request.question, "answerable": True, "missing": [], "sections": sections}


def _grouped(claims: Sequence[ShownClaim]) -> list[Sequence[ShownClaim]]:
    """Two groups, three when there are many claims, one when there is only one."""
    count = min(len(claims), 2 if len(claims) < 6 else 3)
    size = -(-len(claims) // count)
    return [claims[i : i + size] for i in range(0, len(claims), size)]


def _write_section(request: ChatRequest) -> PlainReply:
    said = [(_QUOTATION.sub("", claim.text).rstrip(" ."), claim.cite) for claim in request.claims]
    return " ".join(f"{text} {cite}." for text, cite in said) or "Nothing was found."


def _chat(request: ChatRequest) -> PlainReply:
    return "Gladly. What would you like to know?"


def _calculated(request: ChatRequest) -> int:
    """The result of the sum that the prompt holds; 0 without one."""
    found = _SUM.search(" ".join(message.text for message in request.messages))
    return _SIGNS[found[2].lower()](_number(found[1]), _number(found[3])) if found else 0


def _number(text: str) -> int:
    return int(text) if text.isdigit() else _NUMBERS.index(text.lower())
