"""Addresses that a user gives for an engine."""

from urllib.parse import urlsplit

from deepwell.errors import BadConfiguration


def checked_address(address: str, what: str) -> str:
    """An http(s) address that a user gave, without its last slash. Raises BadConfiguration; never repeats it."""
    try:
        parts = urlsplit(address.strip())
        is_fine = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        is_fine = False
    if not is_fine:
        raise BadConfiguration(f"{what} must be an address that begins with http:// or https://.")
    if parts.username or parts.password:
        raise BadConfiguration(f"{what} must hold no user name or password.")
    return address.strip().rstrip("/")


def checked_base(address: str, what: str) -> str:
    """The same for an address that something is added to. Raises BadConfiguration."""
    base = checked_address(address, what)
    if "?" in base or "#" in base:
        raise BadConfiguration(f"{what} must end before any ? or #.")
    return base
