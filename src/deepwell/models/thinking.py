"""Takes out what a model thought before it answered, in the many ways that models mark it."""

import re

from deepwell.models.json_repair import Found, found_in

_NAME = r"(?:\w{1,12}:)?(?:think(?:ing)?|thoughts?|reasoning|scratchpad|antthinking)"
_TAG = re.compile(
    rf"""
      (?<!`)`</?{_NAME}>[^`\n]{{0,200}}+`(?!`)                               # `<think>` in code: a text about tags
    | <\|?(?P<close>/)?\|?\s?{_NAME}(?:\s[^<>|]{{0,80}}+)?\|?>               # <think>, </think>, <|thinking|>
    | <\|(?:start|begin)_(?:of_)?(?:thinking|thought)\|>                    # Cohere and others
    | (?P<close2>)<\|end_(?:of_)?(?:thinking|thought)\|>
    | \[(?P<close3>/)?(?-i:THINK)\]                                          # Mistral
    | ◁(?P<close4>/)?think▷                                                  # Kimi
    """,
    re.IGNORECASE | re.VERBOSE,
)
_CLOSING = ("close", "close2", "close3", "close4")
# gpt-oss names its channels; `analysis` is thinking, whatever server forgot to hide it.
_ANALYSIS = re.compile(r"<\|channel\|>\s{0,3}analysis\s{0,3}<\|message\|>(?:[^<]|<(?!\|end\|>))*+(?:<\|end\|>)?")
_CHANNEL = re.compile(r"(?:<\|start\|>assistant)?<\|channel\|>\s{0,3}(?:final|commentary(?! to))\s{0,3}<\|message\|>")
_NOTHING_MORE = re.compile(r"(?:\s|```|</?[\w|]{1,30}>|<\|[\w/]{1,30}\|>|,)*+")
_BEFORE_JSON = re.compile(r"\s*+(?:```\w{0,12}\s*+)?")


def without_thinking(text: str) -> str:
    """The text without thinking: in blocks, nested, never opened, or never closed."""
    if "<|channel|>" in text:
        text = _CHANNEL.sub("", _ANALYSIS.sub("", text))
    tags = [tag for tag in _TAG.finditer(text) if not tag.group().startswith("`")]
    return _kept(text, tags) if tags else text


def without_stray_thinking(text: str) -> str:
    """Prose up to a tag of thinking that is still left in it; one in backticks is spoken of, not used."""
    stray = next((tag for tag in _TAG.finditer(text) if not tag.group().startswith("`")), None)
    return text[: stray.start()].rstrip() if stray else text


def _kept(text: str, tags: list[re.Match[str]]) -> str:
    kept: list[str] = []
    json_end = _end_of_leading_json(text)
    at = depth = opened = closed = 0
    for tag in tags:
        if not _is_closing(tag):
            if depth == 0:
                kept.append(text[at : tag.start()])
                opened = tag.start()
            depth += 1
            continue
        if depth == 0:
            # The opening tag was part of the prompt: all before this one is thinking, unless it stands in a value.
            kept = [*kept, text[at : tag.start()]] if tag.start() < json_end else []
        depth = max(0, depth - 1)
        at = closed = tag.end()
    if depth and closed <= opened:
        kept.append(_after_unclosed(text, opened, tags))
    else:
        kept.append(text[at:])
    return "".join(kept)


def _is_closing(tag: re.Match[str]) -> bool:
    return any(tag[name] is not None for name in _CLOSING)


def _end_of_leading_json(text: str) -> int:
    """Where the object or list ends that the text begins with; 0 when it begins with something else."""
    fence = _BEFORE_JSON.match(text)
    first = next(found_in(text), None)
    return first.end if first and fence and first.start == fence.end() else 0


def _after_unclosed(text: str, opened: int, tags: list[re.Match[str]]) -> str:
    """What to keep from an opening tag on that nothing closes.

    In the middle of a line it is a word of the text. Otherwise the rest is thinking, but for JSON at its very end: the
    model went over to its answer without saying so.
    """
    if text[:opened].strip() and text[:opened].rstrip(" \t")[-1] != "\n":
        return text[opened:]
    rest = text[next(tag.end() for tag in tags if tag.start() == opened) :]
    answers = [one for one in found_in(rest) if one.closed and _has_object(one)]
    start = len(rest)
    for answer in reversed(answers):
        if not _NOTHING_MORE.fullmatch(rest, answer.end, start):
            break
        start = answer.start
    return rest[start:]


def _has_object(found: Found) -> bool:
    return isinstance(found.value, dict) or any(isinstance(item, dict) for item in found.value)
