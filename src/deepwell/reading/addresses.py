"""Which web addresses may be read: checks on the text of an address, and on the numbers that its name stands for."""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from urllib.parse import quote, unquote

from deepwell.errors import BadConfiguration, Unreadable
from deepwell.vocabulary.hosts import MAX_HOST_CHARACTERS, ascii_host

MAX_ADDRESS_CHARACTERS = 4096
WEB_PORTS = {"http": 80, "https": 443}

IPAddress = IPv4Address | IPv6Address


class Refusal(Enum):
    """Why an address is not read; the value is the sentence for the user. None repeats any part of the address."""

    SCHEME = "Only addresses that begin with http:// or https:// are read."
    LENGTH = f"Addresses of more than {MAX_ADDRESS_CHARACTERS} characters are not read."
    NOTATION = "The address is written in a way that can hide where it leads, so it is not read."
    CREDENTIALS = "Addresses with a user name or a password in them are not read."
    PORT = "Only the ports 80 and 443 are read; others only on hosts of your own that you allow, as host:port."
    INSIDE = "The address leads into a private or local network; only hosts that you allow are read there."
    RELAYED = "The address asks somebody else's server to reach into a private network, so it is not read."


class Refused(Unreadable):
    """An address that may not be read. Nothing was sent to it."""

    final = True

    def __init__(self, because: Refusal, sentence: str = "") -> None:
        super().__init__(sentence or because.value)
        self.because = because


@dataclass(frozen=True, slots=True)
class WebAddress:
    """An address that has passed every check that needs no network."""

    url: str
    """Normalised: lower-case scheme and host, no fragment, no default port, only ASCII."""
    scheme: str
    host: str
    """Lower-case ASCII (IDNA); an IP address in its shortest form, without brackets."""
    port: int
    target: str
    """Path and query, as they are sent."""
    is_own: bool
    """True when the user has allowed this host, which may then lie in a private network."""

    @classmethod
    def parse(cls, text: str, allowed_hosts: frozenset[str] = frozenset()) -> "WebAddress":
        """The address in a text; `allowed_hosts` as `allow_list` makes them. Raises Refused."""
        scheme, authority, target = _parts(text.strip(" "))
        host, port = _host_and_port(authority)
        port = port or WEB_PORTS[scheme]
        is_own = is_allowed(host, port, allowed_hosts)
        if not is_own:
            _check_elsewhere(host, port, target)
        encoded = _encoded(target)
        url = f"{scheme}://{_netloc(host, port, scheme)}{encoded}"
        return cls(url, scheme, host, port, encoded, is_own)

    @property
    def netloc(self) -> str:
        """Host, and port where it is not the scheme's own, as the Host header names them."""
        return _netloc(self.host, self.port, self.scheme)

    @property
    def origin(self) -> str:
        """What one robots.txt holds for."""
        return f"{self.scheme}://{self.netloc}"

    @property
    def shown(self) -> str:
        """The host as a sentence may name it: numbers are left out, for they may be those of an inner network."""
        return "The server" if literal_ip(self.host) else self.host


def is_allowed(host: str, port: int, allowed_hosts: frozenset[str]) -> bool:
    """Whether the user allows this host: on the web's own ports by its name, on others as host:port."""
    name = _bracketed(host)
    return f"{name}:{port}" in allowed_hosts or (port in WEB_PORTS.values() and name in allowed_hosts)


def allow_list(entries: Iterable[str]) -> frozenset[str]:
    """The user's own hosts, each as host or host:port, in the spelling that addresses are compared with."""
    return frozenset(_allow_entry(entry) for entry in entries)


def _allow_entry(entry: str) -> str:
    text = entry.strip()
    if text.count(":") > 1 and not text.startswith("["):
        text = f"[{text}]"
    try:
        host, port = _host_and_port(text)
    except Refused as refused:
        raise BadConfiguration(f"{entry!r} is not a host or host:port that can be allowed.") from refused
    return _bracketed(host) if port is None else f"{_bracketed(host)}:{port}"


# The text of an address

_BEGINNING = re.compile(r"https?://", re.IGNORECASE)
_SHAPE = re.compile(r"([a-z]++)://([^/?#]*+)([^?#]*+)(\?[^#]*+)?+(?:#.*+)?+", re.IGNORECASE | re.DOTALL)
# A backslash is a slash to some readers of addresses, and some drop tabs and line ends: all would see different hosts.
_AMBIGUOUS = re.compile(r"[\x00-\x1f\x7f-\x9f\\\ud800-\udfff]")
_AUTHORITY = re.compile(r"(?:\[([^\[\]]*+)\]|([^:\[\]]++))(?::([1-9][0-9]{0,4}+))?+")
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
# As browsers decide it: a host whose last label is a number is an IPv4 address, in whatever notation.
_NUMBER = re.compile(r"[0-9]++|0x[0-9a-f]*+")
_FULL_STOPS = "\u3002\uff61"
_SAFE_IN_TARGET = "%/:?#[]@!$&'()*+,;=-._~|"


def ambiguous(text: str) -> bool:
    """Whether the text has characters that readers of addresses disagree about."""
    return bool(_AMBIGUOUS.search(text))


def _parts(text: str) -> tuple[str, str, str]:
    """Scheme, authority, and path with query."""
    if not _BEGINNING.match(text):
        raise Refused(Refusal.SCHEME)
    if len(text) > MAX_ADDRESS_CHARACTERS:
        raise Refused(Refusal.LENGTH)
    shape = _SHAPE.fullmatch(text)
    if shape is None or ambiguous(text):
        raise Refused(Refusal.NOTATION)
    scheme, authority, path, query = shape.groups(default="")
    return scheme.lower(), authority, (path or "/") + query


def _host_and_port(authority: str) -> tuple[str, int | None]:
    if "@" in authority:
        raise Refused(Refusal.CREDENTIALS)
    found = _AUTHORITY.fullmatch(authority)
    if found is None:
        raise Refused(Refusal.NOTATION)
    numbers, name, port = found.groups()
    if port is not None and int(port) > 65535:
        raise Refused(Refusal.NOTATION)
    return _ipv6(numbers) if name is None else _host_name(name), int(port) if port else None


def _ipv6(text: str) -> str:
    try:
        return IPv6Address(text if text.isascii() and "%" not in text else "").compressed
    except ValueError as error:
        raise Refused(Refusal.NOTATION) from error


def _host_name(text: str) -> str:
    if any(_mimics_ascii(sign) for sign in text[:MAX_HOST_CHARACTERS] if not sign.isascii()):
        raise Refused(Refusal.NOTATION)
    try:
        host = ascii_host(text)
    except UnicodeError as error:
        raise Refused(Refusal.NOTATION) from error
    labels = host.split(".")
    if len(host) > MAX_HOST_CHARACTERS or not all(_LABEL.fullmatch(label) for label in labels):
        raise Refused(Refusal.NOTATION)
    if _NUMBER.fullmatch(labels[-1]) and literal_ip(host) is None:
        raise Refused(Refusal.NOTATION)
    return host


def _mimics_ascii(sign: str) -> bool:
    """Circled letters, full-width digits, ideographic full stops: some readers take them for the plain ones."""
    return sign in _FULL_STOPS or any(plain.isascii() for plain in unicodedata.normalize("NFKC", sign))


def literal_ip(host: str) -> IPAddress | None:
    """The IP address that a checked host spells, or None for a name. Only the plain notation of IPv4 counts."""
    try:
        return ip_address(host)
    except ValueError:
        return None


def _encoded(target: str) -> str:
    return quote(target, safe=_SAFE_IN_TARGET)


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _netloc(host: str, port: int, scheme: str) -> str:
    return _bracketed(host) if port == WEB_PORTS[scheme] else f"{_bracketed(host)}:{port}"


# Where it leads

_INSIDE_ZONES = frozenset(
    "localhost local localdomain internal intranet private corp home lan home.arpa svc consul".split()
)
_METADATA_NAMES = frozenset(
    "metadata.goog metadata.packet.net metadata.platformequinix.com metadata.tencentyun.com".split()
)
_QUAD_IN_NAME = re.compile(r"(?:^|\.)([0-9]{1,3}(?:\.[0-9]{1,3}){3})\.")
_INNER_ADDRESS = re.compile(r"https?:/{1,3}([^/?#&\s]++)", re.IGNORECASE)
_LINK_LOCAL = re.compile(r"(?<![0-9.])169\.254\.[0-9]{1,3}\.[0-9]{1,3}(?![0-9.])")


def _check_elsewhere(host: str, port: int, target: str) -> None:
    """Raises Refused for what is read on none but the user's own hosts."""
    if _is_inside(host) or ("." not in host and ":" not in host):
        raise Refused(Refusal.INSIDE)
    if port not in WEB_PORTS.values():
        raise Refused(Refusal.PORT)
    if _is_relayed(target):
        raise Refused(Refusal.RELAYED)


def _is_inside(host: str) -> bool:
    """Whether a host is plainly not on the open web; a name that passes is checked again once it is resolved."""
    if ip := literal_ip(host):
        return not is_public(ip)
    if host in _METADATA_NAMES or any(host == zone or host.endswith(f".{zone}") for zone in _INSIDE_ZONES):
        return True
    # 10.0.0.1.nip.io and its like: such names exist to be resolved to the number in front.
    quad = _QUAD_IN_NAME.search(host)
    ip = literal_ip(quad[1]) if quad else None
    return ip is not None and not is_public(ip)


def _is_relayed(target: str) -> bool:
    """Whether path or query hand a private address to the server that is asked: an open redirect or proxy is abused.

    Redirects are checked when they come; this keeps a page from having the user attack others.
    """
    plain = unquote(unquote(target))
    return bool(_LINK_LOCAL.search(plain)) or any(map(_leads_inside, _INNER_ADDRESS.findall(plain)))


def _leads_inside(authority: str) -> bool:
    try:
        host, _ = _host_and_port(authority.rpartition("@")[2])
    except Refused:
        return False
    return _is_inside(host)


# The numbers that a name stands for, by the registries of special-purpose addresses

_NOT_PUBLIC_V4 = tuple(
    IPv4Network(network)
    for network in (
        "0.0.0.0/8",  # this network
        "10.0.0.0/8",  # private
        "100.64.0.0/10",  # behind a carrier's NAT; one cloud's metadata at 100.100.100.200
        "127.0.0.0/8",  # loopback
        "168.63.129.16/32",  # one cloud's channel from guests to their host
        "169.254.0.0/16",  # link-local, and most clouds' metadata
        "172.16.0.0/12",  # private
        "192.0.0.0/24",  # protocol assignments; one cloud's metadata at 192.0.0.192
        "192.0.2.0/24",  # documentation
        "192.31.196.0/24",  # AS112
        "192.52.193.0/24",  # multicast tunnels
        "192.88.99.0/24",  # 6to4 relays
        "192.168.0.0/16",  # private
        "192.175.48.0/24",  # AS112
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, and broadcast
    )
)
_PUBLIC_V6 = IPv6Network("2000::/3")
"""All that has been given out; loopback, unique local, link-local, site-local, mapped, multicast lie outside."""
_NOT_PUBLIC_V6 = tuple(
    IPv6Network(network)
    for network in (
        "2001::/23",  # protocol assignments, with Teredo, benchmarks and ORCHID
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4: an IPv4 address inside, and nobody needs it any more
        "2620:4f:8000::/48",  # AS112
        "3fff::/20",  # documentation
    )
)
_NAT64 = IPv6Network("64:ff9b::/96")
"""How a network without IPv4 reaches the IPv4 web; as public as the IPv4 address inside."""
_ISATAP = (0x00005EFE, 0x02005EFE)


def is_public(ip: IPAddress) -> bool:
    """Whether an address is on the open internet, and nothing special in any registry."""
    if isinstance(ip, IPv4Address):
        return not any(ip in network for network in _NOT_PUBLIC_V4)
    if ip.scope_id is not None:
        return False
    embedded = IPv4Address(int(ip) & 0xFFFFFFFF)
    if ip in _NAT64:
        return is_public(embedded)
    if ip not in _PUBLIC_V6 or any(ip in network for network in _NOT_PUBLIC_V6):
        return False
    return (int(ip) >> 32) & 0xFFFFFFFF not in _ISATAP or is_public(embedded)


def may_be_own(ip: IPAddress) -> bool:
    """Whether a name that the user allows may stand for this address: private is what it is for, metadata is not."""
    if isinstance(ip, IPv6Address) and (ip.ipv4_mapped or ip.scope_id):
        return False
    return not (ip.is_link_local or ip.is_multicast or ip.is_unspecified)
