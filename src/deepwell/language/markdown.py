"""Markdown from outside made harmless: it keeps its words and its structure, and leads nowhere."""

import re

from deepwell.language.markers import without_markers

# Every run below is entered at its start alone, ends at the next bracket and is never given back: a hundred thousand
# opening brackets cost no more than as many letters.
_BACKSLASHED = r"\\."
_WITHOUT_BRACKETS = rf"(?:[^\[\]\\]++|{_BACKSLASHED})*+"
# `[a [b] c](…)` is one link; in `[a [b](…) c](…)` the inner one goes first.
_TEXT = rf"(?:[^\[\]\\]++|{_BACKSLASHED}|\[{_WITHOUT_BRACKETS}\](?!\())*+"
_BETWEEN_ROUND = rf"(?:[^()\\]++|{_BACKSLASHED})*+"
_INNER_ROUND = rf"\({_BETWEEN_ROUND}(?:\({_BETWEEN_ROUND}\){_BETWEEN_ROUND}){{0,2}}+\)"
_TARGET = rf"\({_BETWEEN_ROUND}(?:{_INNER_ROUND}{_BETWEEN_ROUND}){{0,4}}+\)"
_IMAGE = re.compile(rf"!\[{_TEXT}\](?:{_TARGET}|\[{_WITHOUT_BRACKETS}\])", re.DOTALL)
_LINK = re.compile(rf"(?<!\\)\[({_TEXT})\]{_TARGET}", re.DOTALL)
LINKS_IN_LINKS = 2
"""How deep links are looked for inside the text of links; below that, text and address are only set apart."""
_STILL_A_LINK = re.compile(r"\](?=\()")
_LABEL = rf"(?:[^\[\]\\\n]++|{_BACKSLASHED})++"
# `[1][4]` are two citations; `[the site][4]` is a link by reference.
_BY_REFERENCE = re.compile(rf"(?<!\\)\[(?!\d{{1,4}}\])({_LABEL})\]\[(?:{_LABEL})?\]")
_DEFINITION = re.compile(rf"^[ \t]*+\[{_LABEL}\]:[ \t]*+\S.*+$", re.MULTILINE)
_AUTOLINK = re.compile(r"<((?:https?|ftp|mailto|file|data|javascript):[^<>\s]*+)(?:>|(?=<))", re.IGNORECASE)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_LINE_BREAK = re.compile(r"</?br\b[^<>]*+>", re.IGNORECASE)
_TAG = re.compile(
    r"</?(?:a|abbr|address|audio|b|base|big|blockquote|body|button|canvas|caption|center|cite|code|div|dl|dt|dd|em|"
    r"embed|figure|font|form|frame|h[1-6]|head|hr|html|i|iframe|img|input|ins|kbd|label|li|link|main|map|mark|meta|nav|"
    r"object|ol|option|p|param|picture|pre|s|samp|script|section|select|small|source|span|strike|strong|style|sub|sup|"
    r"svg|table|tbody|td|template|textarea|tfoot|th|thead|title|tr|track|tt|u|ul|var|video)\b[^<>]*+>",
    re.IGNORECASE,
)
_BARE_ADDRESS = re.compile(r"(?<![`\w/])((?:(?:https?|ftp)://|www\.)[^\s`<>)\]]*[^\s`<>)\].,;:!?])", re.IGNORECASE)
_LEADING = re.compile(r"^(?:[#>\s]|[-*+]\s)+")


def leading_nowhere(text: str) -> str:
    """The text without images, links, HTML and reference definitions; an address is shown as code, not as a link."""
    text = _COMMENT.sub("", _IMAGE.sub("", text))
    for _ in range(LINKS_IN_LINKS):
        text = _LINK.sub(_link_text, text)
    text = _DEFINITION.sub("", _BY_REFERENCE.sub(r"\1", text))
    text = _TAG.sub("", _LINE_BREAK.sub(" ", _AUTOLINK.sub(r"\1", text)))
    # Taking one tag out may have made another of what stood around it: that one is shown, not obeyed.
    text = _TAG.sub(lambda match: match[0].replace("<", "‹"), text)
    return _BARE_ADDRESS.sub(r"`\1`", _STILL_A_LINK.sub("] ", text))


def on_one_line(text: str) -> str:
    """For titles, headings and list items: the same, without citations and without breaks."""
    return _LEADING.sub("", " ".join(without_markers(leading_nowhere(text)).split()))


def _link_text(match: re.Match[str]) -> str:
    """A linked number is a citation and stays one, to be checked like any other."""
    text = match[1].strip()
    if not text.isdigit():
        return match[1]
    return f"[{text}] " if match.string.startswith("(", match.end()) else f"[{text}]"
