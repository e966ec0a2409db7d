"""Turns a model's text into the passage that was asked for: no fence, no talk about it, no sources of its own."""

import re
from collections.abc import Callable

from deepwell.models.json_repair import found_in
from deepwell.models.thinking import without_stray_thinking

_FENCED = re.compile(r"```(?:markdown|md|text|txt)?[^\S\n]*+\n(?P<inside>.*)\n```\s*+\Z", re.DOTALL | re.IGNORECASE)
_OPEN_FENCE = re.compile(r"```(?:markdown|md)[^\S\n]*+\n", re.IGNORECASE)
_PRODUCT = (
    r"(?:section|report|draft|text|markdown|answer|summary|paragraphs?|content|version|passage|write-?up|response)"
)
_ASSENT = r"(?:sure|certainly|of\ course|okay|ok|absolutely|great|understood|got\ it)"
_CHATTER = re.compile(
    rf"""
      (?:{_ASSENT}[!,.]\s)?(?:here(?:'s|’s|\ is|\ are)|below\ is)\ [^\n\[]{{0,80}}?\b{_PRODUCT}\b[^\n\[]{{0,120}}:
    | {_ASSENT}[!,.]\s(?:here(?:'s|’s|\ is|\ are)|below\ is)\ [^\n\[]{{0,200}}[:.]
    | i(?:'ve|’ve|\ have)\ (?:written|prepared|drafted)\ [^\n\[]{{0,80}}?\b{_PRODUCT}\b[^\n\[]{{0,120}}:
    | {_ASSENT}(?:\ thing)?[!.]
    """,
    re.IGNORECASE | re.VERBOSE,
)
_FAREWELL = re.compile(
    r"(?:please\s)?(?:let me know|i hope this|hope this helps|feel free to|would you like me to)\b[^\n\[]{0,200}[.!?]",
    re.IGNORECASE,
)
_LEAST_PROSE = 40
"""Characters below which a text in an object is a label rather than the passage."""
_RULE = re.compile(r"(?:-{3,}|\*{3,}|_{3,})")
_INTERNAL = re.compile(
    r"\b(?:ConductResearch|ResearchComplete|think_tool|search_web|fetch_url)\b[\"'`]?\s*[({:]|\breport_findings\b"
    r"|\btool_call_id\b|</?tool_call|\b(?:call|toolu)_[A-Za-z0-9]{12,}"
)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=\])\s+(?=[A-Z])")
_SOURCES = (
    "(?:sources?|references?|bibliography|citations?|works cited|sources cited|quellen|quellenverzeichnis|literatur"
    "|literaturverzeichnis|références|fuentes|referencias|bibliografía|fonti|riferimenti|fontes|referências|bronnen"
    "|źródła|источники|литература|参考文献|参考资料|来源|出典|参考|출처)"
)
_SOURCES_HEADING = re.compile(rf"[\s#*_]*+{_SOURCES}[\s*_]*+[:：]?[\s*_]*+", re.IGNORECASE)
_SOURCES_LINE = re.compile(
    rf"[\s#*_]*+{_SOURCES}[\s*_]*+[:：][\s*_]*+(?:(?:\[\d{{1,4}}\]|https?://\S++)[\s,;.]*+)++", re.IGNORECASE
)
_ENTRY = re.compile(r"\s*+(?:[-*•+]\s|\(?\d{1,4}[.):]|\[[^\]\n]{1,40}\])|.{0,400}?https?://")
_FOOTNOTE = re.compile(r"\s*+\[\^?\d{1,4}\]:\s")


def prose_in(text: str) -> str:
    """The passage alone, in Markdown; empty when nothing of the text belongs to it."""
    text = without_stray_thinking(_unwrapped(text.strip()))
    lines = _without_chatter(text.split("\n"))
    text = _unfenced("\n".join(lines).strip())
    lines = [shown for line in text.split("\n") if (shown := _without_internals(line)) is not None]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(_without_sources(lines))).strip()


def _unwrapped(text: str) -> str:
    """The longest text inside an object with nothing around it, as models write that are used to forms."""
    found = next(found_in(text), None) if text[:1] in ("{", "`") else None
    if found is None or not isinstance(found.value, dict) or text[found.end :].strip("`\n "):
        return text
    longest = max((value for value in found.value.values() if isinstance(value, str)), key=len, default="")
    return longest if len(longest) >= _LEAST_PROSE or len(found.value) == 1 else ""


def _unfenced(text: str) -> str:
    fenced = _FENCED.match(text)
    if fenced and fenced["inside"].count("```") % 2 == 0:
        return fenced["inside"].strip()
    opening = _OPEN_FENCE.match(text)
    return text[opening.end() :] if opening and text.count("```") == 1 else text


def _without_chatter(lines: list[str]) -> list[str]:
    """Without what the model says to whoever asked, before and after; only what can be nothing else."""
    start, end = 0, len(lines)
    while start < end and (not lines[start].strip() or _CHATTER.fullmatch(lines[start].strip())):
        start += 1
    while end > start and (not lines[end - 1].strip() or _FAREWELL.fullmatch(lines[end - 1].strip())):
        end -= 1
    if start and start < end and _RULE.fullmatch(lines[start].strip()):
        start += 1
    if end < len(lines) and start < end and _RULE.fullmatch(lines[end - 1].strip()):
        end -= 1
    return lines[start:end]


def _without_internals(line: str) -> str | None:
    """The line without sentences that name our tools; None when nothing is left of it."""
    if not _INTERNAL.search(line):
        return line
    kept = [sentence for sentence in _SENTENCE_END.split(line) if not _INTERNAL.search(sentence)]
    return " ".join(kept) if any(map(str.strip, kept)) else None


def _without_sources(lines: list[str]) -> list[str]:
    """Without a list of sources at the end: the program writes its own, of what was really read."""
    end = _trimmed(lines, lambda line: bool(_FOOTNOTE.match(line) or _SOURCES_LINE.fullmatch(line.strip())))
    start = _trimmed(lines[:end], lambda line: bool(_ENTRY.match(line)))
    if start and _SOURCES_HEADING.fullmatch(lines[start - 1].strip()):
        end = start - 1
    return (
        lines[: _trimmed(lines[:end], lambda line: bool(_RULE.fullmatch(line.strip())))] if end < len(lines) else lines
    )


def _trimmed(lines: list[str], superfluous: Callable[[str], bool]) -> int:
    """Where the lines end when blank and superfluous ones at the end are left out."""
    end = len(lines)
    while end and (not lines[end - 1].strip() or superfluous(lines[end - 1])):
        end -= 1
    return end
