from ipaddress import IPv4Address, IPv6Address, ip_address
from urllib.parse import urlsplit

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from deepwell.errors import BadConfiguration, Unreadable
from deepwell.reading.addresses import (
    MAX_ADDRESS_CHARACTERS,
    Refusal,
    Refused,
    WebAddress,
    allow_list,
    is_public,
    literal_ip,
    may_be_own,
)

INNER_NETWORKS = [
    ("0.0.0.0", 8),  # noqa: S104
    ("10.0.0.0", 8),
    ("100.64.0.0", 10),
    ("127.0.0.0", 8),
    ("168.63.129.16", 32),
    ("169.254.0.0", 16),
    ("172.16.0.0", 12),
    ("192.0.0.0", 24),
    ("192.0.2.0", 24),
    ("192.88.99.0", 24),
    ("192.168.0.0", 16),
    ("198.18.0.0", 15),
    ("198.51.100.0", 24),
    ("203.0.113.0", 24),
    ("224.0.0.0", 4),
    ("240.0.0.0", 4),
]


@st.composite
def inner_v4(draw: st.DrawFn) -> IPv4Address:
    first, length = draw(st.sampled_from(INNER_NETWORKS))
    return IPv4Address(int(IPv4Address(first)) + draw(st.integers(0, 2 ** (32 - length) - 1)))


def spelled(number: int, base: str, width: int) -> str:
    return {"d": f"{number:d}", "x": f"0x{number:0{width}x}", "o": f"0{number:0{width}o}"}[base]


@st.composite
def odd_v4(draw: st.DrawFn, address: st.SearchStrategy[IPv4Address]) -> str:
    """Any spelling that `inet_aton` or a browser takes for the address: one to four numbers, each in any base."""
    octets = list(draw(address).packed)
    parts = draw(st.integers(1, 4))
    last = int.from_bytes(bytes(octets[parts - 1 :]), "big")
    numbers = [*octets[: parts - 1], last]
    width = draw(st.integers(0, 12))
    text = ".".join(spelled(number, draw(st.sampled_from("dxo")), width) for number in numbers)
    text = draw(st.sampled_from([str.lower, str.upper]))(text)
    return text + draw(st.sampled_from(["", "."]))


FULLWIDTH = {ord(sign): ord(sign) + 0xFEE0 for sign in "0123456789."}
CIRCLED = str.maketrans("0123456789", "⓪①②③④⑤⑥⑦⑧⑨")
ARABIC = str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩")
IDEOGRAPHIC = str.maketrans(".", "。")


@st.composite
def disguised_v4(draw: st.DrawFn) -> str:
    text = str(draw(inner_v4()))
    disguise = draw(st.sampled_from([FULLWIDTH, CIRCLED, ARABIC, IDEOGRAPHIC, None]))
    if disguise is not None:
        return text.translate(disguise)
    place = draw(st.integers(0, len(text) - 1))
    return f"{text[:place]}%{ord(text[place]):02x}{text[place + 1 :]}"


EMBEDDINGS = ["::ffff:{}", "::{}", "64:ff9b::{}", "64:ff9b:1::{}", "fe80::{}", "::ffff:0:{}", "2001:4860::5efe:{}"]


@st.composite
def embedded_v4(draw: st.DrawFn) -> str:
    inner = draw(inner_v4())
    high, low = divmod(int(inner), 65536)
    text = draw(
        st.sampled_from(
            [
                draw(st.sampled_from(EMBEDDINGS)).format(inner),
                draw(st.sampled_from(EMBEDDINGS)).format(f"{high:x}:{low:x}"),
                f"2002:{high:x}:{low:x}::1",
                f"2001:0:4136:e378:8000:63bf:{high ^ 0xFFFF:x}:{low ^ 0xFFFF:x}",
            ]
        )
    )
    return f"[{draw(st.sampled_from([text, IPv6Address(text).exploded, text.upper()]))}]"


def refusal(text: str, *allowed: str) -> Refusal:
    with pytest.raises(Refused) as caught:
        WebAddress.parse(text, allow_list(allowed))
    assert str(caught.value).endswith(".")
    assert isinstance(caught.value, Unreadable)
    return caught.value.because


@given(odd_v4(inner_v4()) | disguised_v4() | embedded_v4(), st.sampled_from(["", ":80", ":443"]))
def test_no_spelling_of_an_inner_address_is_read(host: str, port: str) -> None:
    assert refusal(f"http://{host}{port}/latest") in (Refusal.INSIDE, Refusal.NOTATION)


@given(odd_v4(st.ip_addresses(v=4).map(lambda ip: IPv4Address(str(ip)))))
def test_an_outer_address_is_read_in_its_plain_spelling_only(host: str) -> None:
    try:
        address = WebAddress.parse(f"http://{host}/")
    except Refused:
        return
    assert address.host == host
    assert is_public(ip_address(host))


@given(st.ip_addresses(v=6).filter(lambda ip: not is_public(ip)))
def test_no_inner_ipv6_address_is_read(ip: IPv6Address) -> None:
    assert refusal(f"http://[{ip}]/") is Refusal.INSIDE


@pytest.mark.parametrize(
    "text", ["8.8.8.8", "1.1.1.1", "100.63.255.255", "100.128.0.0", "172.32.0.1", "223.255.255.255"]
)
def test_addresses_next_to_inner_ones_are_public(text: str) -> None:
    assert is_public(ip_address(text))


@pytest.mark.parametrize(
    "text",
    ["2606:4700::1111", "2a00:1450:4001:800::200e", "2001:4860:4860::8888", "64:ff9b::8.8.8.8", "2001:200::1"],
)
def test_given_out_ipv6_addresses_are_public(text: str) -> None:
    assert is_public(ip_address(text))
    assert WebAddress.parse(f"https://[{text}]/").host == ip_address(text).compressed


@pytest.mark.parametrize(
    "text",
    [
        *"0.0.0.0 10.1.2.3 100.64.0.1 100.100.100.200 127.0.0.1 127.255.255.255 168.63.129.16 169.254.169.254".split(),
        *"172.16.0.1 172.31.255.255 192.0.0.192 192.0.2.1 192.88.99.1 192.168.1.1 198.18.0.1 198.19.255.255".split(),
        *"198.51.100.1 203.0.113.9 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255".split(),
        *":: ::1 ::ffff:8.8.8.8 ::8.8.8.8 64:ff9b::10.0.0.1 64:ff9b:1::1 100::1 2001::1 2001:2::1 2001:10::1".split(),
        *"2001:20::1 2001:db8::1 2002:808:808::1 3fff::1 5f00::1 fc00::1 fd00:ec2::254 fe80::1 fec0::1 ff02::1".split(),
        *"fe80::1%eth0 2606:4700::1111%eth0 4000::1".split(),
    ],
)
def test_every_special_range_is_not_public(text: str) -> None:
    assert not is_public(ip_address(text))


@given(st.ip_addresses())
def test_public_is_never_wider_than_the_standard_library(ip: IPv4Address | IPv6Address) -> None:
    assert not is_public(ip) or (ip.is_global and not ip.is_multicast)


@pytest.mark.parametrize(
    ("text", "because"),
    [
        ("ftp://example.org/", Refusal.SCHEME),
        ("file:///etc/passwd", Refusal.SCHEME),
        ("gopher://example.org/", Refusal.SCHEME),
        ("data:text/html,x", Refusal.SCHEME),
        ("javascript:alert(1)", Refusal.SCHEME),
        ("http:example.org/", Refusal.SCHEME),
        ("//example.org/", Refusal.SCHEME),
        ("example.org", Refusal.SCHEME),
        ("", Refusal.SCHEME),
        ("http://", Refusal.NOTATION),
        ("http:///path", Refusal.NOTATION),
        ("http://?q", Refusal.NOTATION),
        ("http://user@example.org/", Refusal.CREDENTIALS),
        ("http://user:word@example.org/", Refusal.CREDENTIALS),
        ("http://@example.org/", Refusal.CREDENTIALS),
        ("http://example.org@127.0.0.1/", Refusal.CREDENTIALS),
        ("http://example.org:22/", Refusal.PORT),
        ("http://example.org:8080/", Refusal.PORT),
        ("http://example.org:080/", Refusal.NOTATION),
        ("http://example.org:0/", Refusal.NOTATION),
        ("http://example.org:99999/", Refusal.NOTATION),
        ("http://example.org:80:80/", Refusal.NOTATION),
        ("http://example.org:/", Refusal.NOTATION),
        ("http://example.org:\uff18\uff10/", Refusal.NOTATION),
        ("http://example.org\\@127.0.0.1/", Refusal.NOTATION),
        ("http://example.org/a\\b", Refusal.NOTATION),
        ("http://exam\tple.org/", Refusal.NOTATION),
        ("http://example.org/\r\nHost: x", Refusal.NOTATION),
        ("http://example.org/\x00", Refusal.NOTATION),
        ("http://example .org/", Refusal.NOTATION),
        ("http://example%2eorg/", Refusal.NOTATION),
        ("http://example.org./", Refusal.NOTATION),
        ("http://.example.org/", Refusal.NOTATION),
        ("http://example..org/", Refusal.NOTATION),
        ("http://-example.org/", Refusal.NOTATION),
        (f"http://{'a' * 64}.org/", Refusal.NOTATION),
        (f"http://{'a.' * 130}org/", Refusal.NOTATION),
        ("http://ⓔⓧⓐⓜⓟⓛⓔ.ⓒⓞⓜ/", Refusal.NOTATION),
        ("http://example。org/", Refusal.NOTATION),
        ("http://exam\u200bple.org/", Refusal.NOTATION),
        ("http://exam\u00adple.org/", Refusal.NOTATION),
        (f"http://{'ä' * 300}.org/", Refusal.NOTATION),
        ("http://[::1/", Refusal.NOTATION),
        ("http://[fe80::1%25eth0]/", Refusal.NOTATION),
        ("http://[::1]x/", Refusal.NOTATION),
        ("http://[]/", Refusal.NOTATION),
        ("http://[1.2.3.4]/", Refusal.NOTATION),
        ("http://1.2.3/", Refusal.NOTATION),
        ("http://1.2.3.4.5/", Refusal.NOTATION),
        ("http://256.256.256.256/", Refusal.NOTATION),
        ("http://0o177.0.0.1/", Refusal.NOTATION),
        ("http://example.0x7f/", Refusal.NOTATION),
        ("http://localhost/", Refusal.INSIDE),
        ("http://LOCALHOST/", Refusal.INSIDE),
        ("http://a.localhost/", Refusal.INSIDE),
        ("http://printer.local/", Refusal.INSIDE),
        ("http://nas.home.arpa/", Refusal.INSIDE),
        ("http://wiki.corp/", Refusal.INSIDE),
        ("http://metadata.google.internal/", Refusal.INSIDE),
        ("http://metadata/", Refusal.INSIDE),
        ("http://metadata.packet.net/", Refusal.INSIDE),
        ("http://kubernetes.default.svc/", Refusal.INSIDE),
        ("http://intranet/", Refusal.INSIDE),
        ("http://10.0.0.1.nip.io/", Refusal.INSIDE),
        ("http://www.10.0.0.1.nip.io/", Refusal.INSIDE),
        ("http://example.org/go?to=http://localhost:9200/", Refusal.RELAYED),
        ("http://example.org/go?to=http%3A%2F%2F10.0.0.1%2F", Refusal.RELAYED),
        ("http://example.org/go?to=http%253A%252F%252F[::1]%252F", Refusal.RELAYED),
        ("http://example.org/proxy/169.254.169.254/latest", Refusal.RELAYED),
        (f"http://example.org/{'a' * MAX_ADDRESS_CHARACTERS}", Refusal.LENGTH),
    ],
)
def test_what_is_refused_and_why(text: str, because: Refusal) -> None:
    assert refusal(text) is because


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("HTTP://Example.ORG", "http://example.org/"),
        ("  https://example.org/a  ", "https://example.org/a"),
        ("http://example.org:80/a?b=c#d", "http://example.org/a?b=c"),
        ("https://example.org:443", "https://example.org/"),
        ("https://example.org:80/", "https://example.org:80/"),
        ("http://example.org?q", "http://example.org/?q"),
        ("https://de.example.org/wiki/Käse und Brot", "https://de.example.org/wiki/K%C3%A4se%20und%20Brot"),
        ("https://example.org/a%20b%2Fc", "https://example.org/a%20b%2Fc"),
        ("https://bücher.example.org/", "https://xn--bcher-kva.example.org/"),
        ("https://BÜCHER.example.org/", "https://xn--bcher-kva.example.org/"),
        ("https://日本語.example.org/", "https://xn--wgv71a119e.example.org/"),
        ("https://my_site.example.org/", "https://my_site.example.org/"),
        ("https://8.8.8.8/", "https://8.8.8.8/"),
        ("https://[2606:4700:0:0::1111]/", "https://[2606:4700::1111]/"),
        ("https://example.org/?u=https://example.com:8080/x", "https://example.org/?u=https://example.com:8080/x"),
        ("https://example.org/wiki/127.0.0.1", "https://example.org/wiki/127.0.0.1"),
    ],
)
def test_addresses_are_normalised(text: str, url: str) -> None:
    address = WebAddress.parse(text)
    assert address.url == url
    assert WebAddress.parse(url) == address
    assert not address.is_own


def test_the_parts_of_an_address() -> None:
    address = WebAddress.parse("https://Example.org:80/a/b?c=d#e")
    assert (address.scheme, address.host, address.port, address.target) == ("https", "example.org", 80, "/a/b?c=d")
    assert (address.origin, address.netloc, address.shown) == (
        "https://example.org:80",
        "example.org:80",
        "example.org",
    )


def test_an_allowed_host_may_be_private_on_the_webs_ports() -> None:
    own = allow_list(["Intranet", "10.0.0.5", "::1"])
    for text in ("http://intranet/", "https://INTRANET:443/", "http://10.0.0.5/", "http://[::1]/", "http://[0:0::1]/"):
        assert WebAddress.parse(text, own).is_own
    assert refusal("http://intranet:8080/", "intranet") is Refusal.INSIDE
    assert refusal("http://other/", "intranet") is Refusal.INSIDE
    assert refusal("http://10.0.0.6/", "10.0.0.5") is Refusal.INSIDE


def test_an_allowed_host_and_port_are_allowed_together_only() -> None:
    own = allow_list([" localhost:8080 ", "[::1]:9000"])
    assert WebAddress.parse("http://localhost:8080/", own).url == "http://localhost:8080/"
    assert WebAddress.parse("http://[::1]:9000/a", own).url == "http://[::1]:9000/a"
    assert refusal("http://localhost:8081/", "localhost:8080") is Refusal.INSIDE
    assert refusal("http://localhost/", "localhost:8080") is Refusal.INSIDE


def test_allowing_a_host_allows_no_odd_spelling_of_it() -> None:
    for text in ("http://2130706433/", "http://127.1/", "http://0x7f.0.0.1/", "http://[::ffff:127.0.0.1]/"):
        assert refusal(text, "127.0.0.1", "localhost") in (Refusal.NOTATION, Refusal.INSIDE)
    assert refusal("http://me@127.0.0.1/", "127.0.0.1") is Refusal.CREDENTIALS
    assert refusal("ftp://127.0.0.1/", "127.0.0.1") is Refusal.SCHEME


@pytest.mark.parametrize("entry", ["", "http://host/", "a b", "host:port", "127.1", "host/path", "me@host", "*.corp"])
def test_an_allow_list_takes_hosts_only(entry: str) -> None:
    with pytest.raises(BadConfiguration):
        allow_list([entry])


def test_numbers_of_a_server_are_not_shown() -> None:
    assert WebAddress.parse("http://127.0.0.1/", allow_list(["127.0.0.1"])).shown == "The server"


@pytest.mark.parametrize("text", "169.254.169.254 0.0.0.0 224.0.0.1 :: fe80::1 ::ffff:10.0.0.1".split())
def test_an_allowed_name_may_not_stand_for_metadata(text: str) -> None:
    assert not may_be_own(ip_address(text))


@pytest.mark.parametrize("text", ["127.0.0.1", "10.0.0.1", "192.168.0.1", "::1", "fd00::1", "100.64.0.1"])
def test_an_allowed_name_may_stand_for_a_private_address(text: str) -> None:
    assert may_be_own(ip_address(text))


HOST_TEXT = st.text("abz019.-_:@[]%/\\?# \té①。xX", max_size=30)


@given(st.text(max_size=60) | st.tuples(st.sampled_from(["http://", "HTTPS://"]), HOST_TEXT).map("".join))
@example("http://[")
@example("http://a\ud800b/")
@example("http://xn--/")
@example("http://xn--a.ö/")
def test_any_text_is_an_address_that_all_read_alike_or_is_refused(text: str) -> None:
    try:
        address = WebAddress.parse(text)
    except Refused:
        return
    split = urlsplit(address.url)
    assert (split.scheme, split.port or address.port) == (address.scheme, address.port)
    assert split.hostname == address.host
    assert split.username is None
    assert address.url.isascii()
    assert WebAddress.parse(address.url) == address
    assert literal_ip(address.host) is None or is_public(ip_address(address.host))
