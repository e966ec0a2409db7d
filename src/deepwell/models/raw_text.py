"""Makes a model's raw text printable: no control characters, no broken surrogates, no chat tokens."""

import re

_SURROGATE = re.compile("[\ud800-\udfff]")
_LINE_END = re.compile("\r\n?|[\u2028\u2029\x85]")
# With what turns the order of letters around or hides between them; marks that scripts need (U+200C-200F) stay.
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2060-\u2069\ufeff\ufffe\uffff]")
# <|im_end|>, <|eot_id|>, <｜end▁of▁sentence｜>: what a server should have removed and some do not.
_CHAT_TOKEN = re.compile(r"<[|｜][a-zA-Z_▁]{1,40}[|｜]>|</s>|<end_of_turn>|<eos>")


def printable(text: str) -> str:
    """The text without what no reader can see; halves of a surrogate pair are joined, a lone half is dropped."""
    if _SURROGATE.search(text):
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "ignore")
    return _CONTROL.sub("", _LINE_END.sub("\n", text))


def without_chat_tokens(text: str) -> str:
    """The text without the tokens that frame turns; a blank stays where one stood, so that words do not meet."""
    return _CHAT_TOKEN.sub(" ", text)
