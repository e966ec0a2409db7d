"""How many tokens a text is, without any vocabulary: good to a few per cent for prose, never far too low.

Real tokenizers are downloads, and each model has its own. An estimate is enough to reserve by: what was really used is
told by the provider afterwards, and corrects the next estimate.
"""

import re
import string

CHARACTERS_PER_TOKEN = 4.0
"""Of a word in a script with spaces, for words of ordinary length."""
_WIDE = re.compile("[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]")
_NARROW = re.compile("[\u0370-\u1fff]")
_SIGN = re.compile(r"[^\w\s]|\d")
_NO_SIGNS = str.maketrans("", "", "_" + string.ascii_letters + string.whitespace)


def estimated_tokens(text: str) -> int:
    """About how many tokens: a CJK character is one, other non-Latin letters half of one, signs and digits more."""
    if text.isascii():
        # The same in a tenth of the time, and most text is.
        signs = len(text.translate(_NO_SIGNS))
        return int(signs * 0.5 + (len(text) - signs) / CHARACTERS_PER_TOKEN) + 1
    wide, narrow, signs = (len(pattern.findall(text)) for pattern in (_WIDE, _NARROW, _SIGN))
    plain = len(text) - wide - narrow - signs
    return int(wide * 1.0 + narrow * 0.5 + signs * 0.5 + plain / CHARACTERS_PER_TOKEN) + 1


def fitting(text: str, tokens: int) -> str:
    """The beginning of the text that takes at most so many tokens, cut at a word where there is one."""
    whole = estimated_tokens(text)
    if whole <= tokens:
        return text
    cut = text[: max(0, int(len(text) * tokens / whole))]
    whole_words = cut.rsplit(None, 1) if " " in cut[len(cut) // 2 :] else [cut]
    return whole_words[0] if whole_words else ""
