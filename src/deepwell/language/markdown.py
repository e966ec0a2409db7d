"""Markdown from outside made harmless: it keeps its words and its structure, and leads nowhere."""

import re
from collections.abc import Iterable

from deepwell.language.markers import MARKER, without_markers

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
# One in a list or a quotation, or over two lines, would still make links of every `[1]` in the report.
_STILL_A_DEFINITION = re.compile(r"\]:")
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
# What can begin a tag of whatever name, a comment, or an address between angle brackets; not `a<b.` or `a < b`.
_OPENING = re.compile(r"<(?=/?[A-Za-z][A-Za-z0-9-]*+(?:[\s/>]|\Z)|[!?]|[A-Za-z][A-Za-z0-9+.-]*+:|[^\s<>]*+@)")
_ADDRESS = (
    r"(?:(?i:https?|ftp)://|(?i:www)\.|(?i:mailto|xmpp):|(?<![:/])//(?=[\w-]++\.))"
    r"[^\s`<>)\]]*[^\s`<>)\].,;:!?]"
)
_MAIL = r"(?<![\w.+-])[\w.+-]++@[\w-]++(?:\.[\w-]++)++"
# With the backslashes before it: one would take the code's first backtick for a sign.
_BARE_ADDRESS = re.compile(rf"(?<!\\)\\*+({_ADDRESS}|{_MAIL})")
_LINK_SIGN = re.compile(r"(?i)(?<=http)(?=://)|(?<=https)(?=://)|(?<=ftp)(?=://)|(?<=www)(?=\.)")
_MAIL_SIGN = re.compile(r"(?=@)(?<=[\w.+-])")
_CODE = re.compile(r"(`[^`\n]*`)")
_LEADING = re.compile(r"^(?:[#>\s]|[-*+]\s)+")
# Stress, strokes, formulas and entities; not `snake_case`, `$5` or `A & B`, which are read as they are.
_STYLE = r"[*~]|(?<![^\W_])_|_(?![^\W_])|(?<!\s)\$(?!\w)|&(?=\#?\w+;)|^[#>+=-]"
_TELLING = re.compile(rf"`({_ADDRESS}|{_MAIL})`|({_ADDRESS}|{_MAIL})|(\\|`|<(?=[A-Za-z/!?])|\](?=[(\[:])|{_STYLE})")


def leading_nowhere(text: str) -> str:
    """The text without images, links, HTML and reference definitions; an address is shown as code, not as a link."""
    text = _COMMENT.sub("", _IMAGE.sub("", text))
    for _ in range(LINKS_IN_LINKS):
        text = _LINK.sub(_link_text, text)
    text = _DEFINITION.sub("", _BY_REFERENCE.sub(r"\1", text))
    text = _TAG.sub("", _LINE_BREAK.sub(" ", _AUTOLINK.sub(r"\1", text)))
    # Taking one tag out may have made another of what stood around it: that one is shown, not obeyed.
    text = _TAG.sub(lambda match: match[0].replace("<", "‹"), text)
    return _without_bare_addresses(_STILL_A_DEFINITION.sub(r"]\:", _STILL_A_LINK.sub("] ", text)))


def on_one_line(text: str) -> str:
    """For titles, headings and list items: the same, without citations and without breaks."""
    return _LEADING.sub("", " ".join(without_markers(leading_nowhere(text)).split()))


def as_it_stands(text: str) -> str:
    """For what is quoted: every word and sign stays to be read, on one line; none links, loads, opens or cites."""
    shown = _TELLING.sub(_shown, " ".join(text.split()))
    return MARKER.sub(lambda marker: marker[0].replace("]", r"\]"), shown)


def bulleted(lines: Iterable[str]) -> str:
    """A list of such lines."""
    return "\n".join(f"- {as_it_stands(line)}" for line in lines)


def as_code(text: str) -> str:
    """The text word for word, on one line, in backticks that it cannot close."""
    line = " ".join(text.split())
    fence = "`" * (1 + max(map(len, re.findall(r"`+", line)), default=0))
    return f"{fence}{line}{fence}" if fence == "`" else f"{fence} {line} {fence}"


def _shown(match: re.Match[str]) -> str:
    coded, bare, sign = match.groups()
    return f"\\{sign}" if sign else f"`{coded or bare}`"


def _without_bare_addresses(text: str) -> str:
    """As code, where it is sure what is code already; else with a backslash that no reader of Markdown shows."""
    if not _is_tidy(text):
        return _MAIL_SIGN.sub(" ", _LINK_SIGN.sub(r"\\", _OPENING.sub("‹", text)))
    parts = _CODE.split(text)
    parts[::2] = [_BARE_ADDRESS.sub(r"`\1`", _OPENING.sub("‹", part)) for part in parts[::2]]
    return "".join(parts)


def _is_tidy(text: str) -> bool:
    """Whether backticks come in pairs on every line, one at a time, and not across the cells of a table."""
    if "``" in text or r"\`" in text:
        return False
    lines = (line.split("`") for line in text.split("\n"))
    return all(len(pieces) % 2 and not any("|" in code for code in pieces[1::2]) for pieces in lines)


def _link_text(match: re.Match[str]) -> str:
    """A linked number is a citation and stays one, to be checked like any other."""
    text = match[1].strip()
    if not text.isdigit():
        return match[1]
    return f"[{text}] " if match.string.startswith("(", match.end()) else f"[{text}]"
