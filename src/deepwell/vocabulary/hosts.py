"""Names of hosts in the one spelling in which they are compared and asked for."""

import unicodedata

MAX_HOST_CHARACTERS = 253


def ascii_host(host: str) -> str:
    """The name in lower case and in ASCII, by the rules of IDNA 2008. Raises UnicodeError for what is no such name."""
    if host.isascii():
        return host.lower()
    # The tables take a while to load, and most names do without them.
    import idna

    if len(host) > MAX_HOST_CHARACTERS:
        raise UnicodeError("The name is too long.")
    return idna.encode(unicodedata.normalize("NFC", host.lower())).decode("ascii")
