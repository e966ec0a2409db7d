"""Web addresses as names: one page has one name, however it was linked to."""

import re
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlencode, urlsplit

from deepwell.vocabulary.hosts import ascii_host

_TRACKING = frozenset(
    """
    _ga _gl _hsenc _hsmi __hsfp __hssc __hstc cmpid cmp_id dclid fb_action_ids fb_action_types fb_ref fb_source fbclid
    ga_campaign ga_content ga_medium ga_source ga_term gad_source gbraid gclid gclsrc hsctatracking icid igsh igshid
    li_fat_id mc_cid mc_eid mkt_tok ml_subscriber ml_subscriber_hash msclkid ncid oly_anon_id oly_enc_id pk_campaign
    pk_kwd rb_clickid ref_src ref_url s_cid s_kwcid spm srsltid sr_share ttclid twclid vero_conv vero_id wbraid
    wickedid wt_mc xtor yclid
    """.split()
)
"""Parameters that say who followed a link, and nothing of the page."""
_TRACKING_BEGINNINGS = ("utm_", "hsa_", "mtm_", "matomo_", "piwik_", "stm_", "at_custom")
_DEFAULT_PORTS = {"http": 80, "https": 443}
_FIRST_PAGE = re.compile(r"/(?:index|default)\.(?:html?|php|aspx?)$", re.IGNORECASE)
_ESCAPED_SLASH = re.compile("%2f", re.IGNORECASE)
_KEPT_IN_PATH = "/:@!$&'()*+,;=~-._"


def canonical_address(address: str) -> str:
    """The same text for every address of one page: a key to compare by, not to fetch.

    Scheme, `www.`, the spelling of the host, default ports, fragments, tracking parameters, the order of parameters
    and the last slash make no difference. What is no web address stays as it is.
    """
    # A lone surrogate is no character: it cannot be written into an address.
    parts = _web_parts(address.encode("utf-8", "backslashreplace").decode())
    if parts is None:
        return address
    host = _host(parts)
    path = _FIRST_PAGE.sub("/", _path(parts.path)).rstrip("/")
    query = _query(parts.query)
    return f"https://{host}{path}" + (f"?{query}" if query else "")


def domain(address: str) -> str:
    """The host of a web address without `www.`; any other address is its own domain."""
    parts = _web_parts(address)
    return _name(parts).removeprefix("www.") if parts else address


def is_web(address: str) -> bool:
    """True for what could be read over the web, false for a document of one's own."""
    return _web_parts(address) is not None


def _web_parts(address: str) -> SplitResult | None:
    try:
        parts = urlsplit(address)
        is_one = parts.scheme in _DEFAULT_PORTS and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        return None
    return parts if is_one else None


def _host(parts: SplitResult) -> str:
    host = _name(parts).rstrip(".").removeprefix("www.")
    return host if parts.port in (None, _DEFAULT_PORTS[parts.scheme]) else f"{host}:{parts.port}"


def _name(parts: SplitResult) -> str:
    """The host in the spelling that the web asks for it by; what has none stays as it was written."""
    host = parts.hostname or ""
    try:
        return ascii_host(host)
    except UnicodeError:
        return host


def _path(path: str) -> str:
    """Every character written in one way. A slash that is part of a name stays told from one between names, and bytes
    that are no UTF-8 stay what they are."""
    names = _ESCAPED_SLASH.split(path)
    plain = (unquote(name, errors="surrogateescape") for name in names)
    return "%2F".join(quote(name, safe=_KEPT_IN_PATH, errors="surrogateescape") for name in plain)


def _query(query: str) -> str:
    told = [(name, value) for name, value in _parameters(query) if not _tracks(name.lower())]
    return urlencode(sorted(told), errors="surrogateescape")


def _parameters(query: str) -> list[tuple[str, str]]:
    return parse_qsl(query, keep_blank_values=True, errors="surrogateescape")


def _tracks(name: str) -> bool:
    return name in _TRACKING or name.startswith(_TRACKING_BEGINNINGS)
