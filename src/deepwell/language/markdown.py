"""Markdown from outside made harmless: it keeps its words and its structure, and leads nowhere."""

import re

from deepwell.language.markers import without_markers

_IMAGE = re.compile(r"!\[[^\]]*\](?:\((?:[^()]|\([^)]*\))*\)|\[[^\]]*\])")
_LINK = re.compile(r"\[([^\]]*)\]\((?:[^()]|\([^)]*\))*\)")
# `[1][4]` are two citations; `[the site][4]` is a link by reference.
_BY_REFERENCE = re.compile(r"\[(?!\d{1,4}\])([^\]\n]+)\]\[[^\]\n]*\]")
_DEFINITION = re.compile(r"^[ \t]*\[[^\]\n]+\]:[ \t]*\S.*$", re.MULTILINE)
_AUTOLINK = re.compile(r"<((?:https?|ftp|mailto|file|data|javascript):[^>\s]*)>", re.IGNORECASE)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_TAG = re.compile(
    r"</?(?:a|abbr|address|audio|b|base|big|blockquote|body|br|button|canvas|caption|center|cite|code|div|dl|dt|dd|em|"
    r"embed|figure|font|form|frame|h[1-6]|head|hr|html|i|iframe|img|input|ins|kbd|label|li|link|main|map|mark|meta|nav|"
    r"object|ol|option|p|param|picture|pre|s|samp|script|section|select|small|source|span|strike|strong|style|sub|sup|"
    r"svg|table|tbody|td|template|textarea|tfoot|th|thead|title|tr|track|tt|u|ul|var|video)\b[^<>]*>",
    re.IGNORECASE,
)
_BARE_ADDRESS = re.compile(r"(?<![`\w/])((?:(?:https?|ftp)://|www\.)[^\s`<>)\]]*[^\s`<>)\].,;:!?])", re.IGNORECASE)
_LEADING = re.compile(r"^(?:[#>\s]|[-*+]\s)+")


def leading_nowhere(text: str) -> str:
    """The text without images, links, HTML and reference definitions; an address is shown as code, not as a link."""
    text = _COMMENT.sub("", _IMAGE.sub("", text))
    text = _BY_REFERENCE.sub(r"\1", _LINK.sub(_link_text, text))
    text = _TAG.sub("", _AUTOLINK.sub(r"\1", _DEFINITION.sub("", text)))
    return _BARE_ADDRESS.sub(r"`\1`", text)


def on_one_line(text: str) -> str:
    """For titles, headings and list items: the same, without citations and without breaks."""
    return _LEADING.sub("", " ".join(without_markers(leading_nowhere(text)).split()))


def _link_text(match: re.Match[str]) -> str:
    """A linked number is a citation and stays one, to be checked like any other."""
    text = match[1].strip()
    return f"[{text}]" if text.isdigit() else match[1]
